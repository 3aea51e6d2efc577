// traces/protocols/rmi: a registry, a service and its clients, each of them a program of its own:
//
//      javac -d classes RmiShop.java
//      java -cp classes RmiShop serve 127.0.0.2 &
//      java -cp classes RmiShop call 127.0.0.2
//
// while tcpdump listens to port 1099 and 1098. rmi.interfaces is what javap -s says of the interface.
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMISocketFactory;
import java.rmi.server.UnicastRemoteObject;
import java.util.HashMap;
import java.util.Map;

public class RmiShop {
	public interface Shop extends Remote {
		double price(String item, int count) throws RemoteException;
		Map<String, Integer> stock() throws RemoteException;
		byte[] picture(long id) throws RemoteException;
		void order(String[] items) throws RemoteException;
	}

	static class Service implements Shop {
		public double price(String item, int count) {
			if (count < 0) throw new IllegalArgumentException("so few");
			return 1.5 * count;
		}

		public Map<String, Integer> stock() {
			Map<String, Integer> all = new HashMap<>();
			for (int i = 0; i < 20; i++) all.put("item" + i, i);
			return all;
		}

		public byte[] picture(long id) {
			return new byte[8000];
		}

		public void order(String[] items) throws RemoteException {
			try {
				Thread.sleep(3);
			} catch (InterruptedException e) {
				throw new RemoteException("interrupted", e);
			}
		}
	}

	// All sockets at the one address.
	static RMISocketFactory at(InetAddress address) {
		return new RMISocketFactory() {
			public Socket createSocket(String host, int port) throws java.io.IOException {
				return new Socket(host, port);
			}

			public ServerSocket createServerSocket(int port) throws java.io.IOException {
				ServerSocket socket = new ServerSocket();
				socket.bind(new InetSocketAddress(address, port));
				return socket;
			}
		};
	}

	static void serve(String host) throws Exception {
		System.setProperty("java.rmi.server.hostname", host);
		RMISocketFactory.setSocketFactory(at(InetAddress.getByName(host)));
		Registry registry = LocateRegistry.createRegistry(1099);
		Service service = new Service();
		registry.rebind("shop", UnicastRemoteObject.exportObject(service, 1098));
		Thread.sleep(6000);
		System.exit(0);
	}

	static void call(String host) throws Exception {
		Shop shop = (Shop) LocateRegistry.getRegistry(host, 1099).lookup("shop");
		for (int i = 0; i < 8; i++) shop.price("apple" + i, i);
		try {
			shop.price("none", -1);
		} catch (IllegalArgumentException e) {
			System.out.println(e.getMessage());
		}
		shop.stock();
		shop.picture(7);
		Thread[] customers = new Thread[3];
		for (int i = 0; i < customers.length; i++) {
			customers[i] = new Thread(() -> {
				try {
					for (int n = 0; n < 4; n++) shop.order(new String[] { "a", "b" });
				} catch (RemoteException e) {
					System.out.println(e.getMessage());
				}
			});
			customers[i].start();
		}
		for (Thread customer : customers) customer.join();
		Thread.sleep(1500);
		shop.price("later", 1);
		Thread.sleep(300);
		System.exit(0);
	}

	public static void main(String[] arguments) throws Exception {
		if (arguments[0].equals("serve")) serve(arguments[1]);
		else call(arguments[1]);
	}
}
