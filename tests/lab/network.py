"""The lab's network: a namespace with a bridge, and a namespace with one cable to it for each host.

    wplabPID-client --+
    wplabPID-nginx  --+-- br0 in wplabPID-switch (tcpdump reads here: a mirror of all ports)
    wplabPID-app1   --+
         ...

Nothing outside these namespaces is touched, and all of them go when close() runs. Offloads are off, so
that the bridge carries what a real wire would: frames of at most 1514 bytes with good checksums.

Loopback is one namespace in their place, for all hosts, of which tcpdump reads lo as it is.
"""

import os
import signal
import subprocess
import time

import places

OFFLOADS = ["tx", "rx", "sg", "tso", "gso", "gro"]


def _run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=30)


class Network:
    tap = ("switch", "br0")  # where all is seen

    def __init__(self, hosts=None):
        self._hosts = hosts or places.HOSTS
        self._prefix = f"wplab{os.getpid()}"
        self._made = []
        self._processes = []

    def open(self):
        self._add("switch")
        self._inside("switch", "ip", "link", "add", "br0", "type", "bridge", "forward_delay", "0")
        self._inside("switch", "ip", "link", "set", "br0", "up")
        for name, ip in self._hosts.items():
            self._add(name)
            self._plug(name, ip)

    def _name(self, host):
        return f"{self._prefix}-{host}"

    def _add(self, host):
        _run("ip", "netns", "add", self._name(host))
        self._made.append(host)
        self._inside(host, "ip", "link", "set", "lo", "up")

    def _inside(self, host, *command):
        _run("ip", "netns", "exec", self._name(host), *command)

    def _plug(self, name, ip):
        mac = "02:00:" + ":".join(f"{int(part):02x}" for part in ip.split("."))
        _run("ip", "link", "add", "eth0", "address", mac, "netns", self._name(name), "type", "veth",
             "peer", "name", name, "netns", self._name("switch"))
        for host, device in ((name, "eth0"), ("switch", name)):
            self._inside(host, "ethtool", "-K", device, *(w for o in OFFLOADS for w in (o, "off")))
        self._inside("switch", "ip", "link", "set", name, "master", "br0", "up")
        self._inside(name, "ip", "address", "add", f"{ip}/{places.PREFIX}", "dev", "eth0")
        self._inside(name, "ip", "link", "set", "eth0", "up")

    def start(self, host, command, **options):
        """A process on HOST, in a session of its own; stopped by close() at the latest."""
        command = ["ip", "netns", "exec", self._name(host), *command]
        process = subprocess.Popen(command, start_new_session=True, **options)
        self._processes.append(process)
        return process

    @staticmethod
    def stop(process, how=signal.SIGTERM, seconds=15):
        """Ends it and waits; kills its session where it does not listen."""
        if process.poll() is None:
            process.send_signal(how)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(seconds)

    def close(self):
        for process in reversed(self._processes):
            self.stop(process, seconds=5)
        for host in reversed(self._made):
            self._sweep(host)
            subprocess.run(["ip", "netns", "delete", self._name(host)], check=False, timeout=30)
        self._processes, self._made = [], []

    def _sweep(self, host):
        """What still runs in a namespace that we made: children of our own processes."""
        listed = subprocess.run(["ip", "netns", "pids", self._name(host)], check=False,
                                capture_output=True, text=True, timeout=30).stdout.split()
        for pid in listed:
            os.kill(int(pid), signal.SIGKILL)
        if listed:
            time.sleep(0.2)


class Loopback(Network):
    tap = ("host", "lo")

    def open(self):
        self._add("host")

    def _name(self, host):
        return f"{self._prefix}-host"
