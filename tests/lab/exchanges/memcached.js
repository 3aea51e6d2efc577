// traces/protocols/memcached: clients of one server: the text protocol with pipelines, meta commands, binary with quiet
// operations, and datagrams.
// memcached -l 127.0.0.1 -p 11219 -U 11219; npm install memjs; tcpdump listens to that port.
const dgram = require("dgram");
const net = require("net");
const memjs = require("memjs");

const port = 11219;

async function timed(what, promise) {
	const begin = process.hrtime.bigint();
	try {
		return await promise();
	} catch (error) {
		what += ` ${error.message}`;
	} finally {
		console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} ${what}`);
	}
}

// Sends TEXT and waits until END has been received N times.
const ask = (socket, text, end, n = 1) => timed(text.slice(0, 30).split("\r\n")[0], () => new Promise((done) => {
	let seen = "";
	socket.removeAllListeners("data").on("data", (data) => {
		seen += data;
		if (seen.split(end).length > n) done();
	});
	socket.write(text);
}));

async function text(socket) {
	await ask(socket, "version\r\n", "\r\n");
	await ask(socket, "set user:1 0 0 5\r\nhello\r\n", "STORED\r\n");
	await ask(socket, "get user:1\r\n", "END\r\n");
	await ask(socket, "get missing\r\n", "END\r\n");
	await ask(socket, `set large 3 0 200000\r\n${"x".repeat(200000)}\r\n`, "STORED\r\n");
	await ask(socket, "gets user:1 large missing\r\n", "END\r\n");
	await ask(socket, "add user:1 0 0 1\r\n5\r\n", "STORED\r\n");
	await ask(socket, "set n 0 0 1\r\n5\r\nincr n 2\r\ndecr n 1\r\ntouch n 100\r\ndelete n\r\n", "\r\n", 5);
	await ask(socket, "incr missing 1\r\n", "\r\n");
	await ask(socket, "nosuch thing\r\n", "ERROR\r\n");
	await ask(socket, "set quiet 0 0 1 noreply\r\n7\r\ndelete user:9 noreply\r\nget quiet\r\n", "END\r\n");
	await ask(socket, [...Array(10).keys()].map((i) => `get user:${i % 3}\r\n`).join(""), "END\r\n", 10);
	await ask(socket, "gat 100 user:1 quiet\r\n", "END\r\n");
	await ask(socket, "stats\r\n", "END\r\n");
}

async function meta(socket) {
	await ask(socket, "ms item:7 5 T90 F1\r\napple\r\n", "HD");
	await ask(socket, "mg item:7 s v t\r\n", "apple\r\n");
	await ask(socket, "mg missing v\r\n", "EN\r\n");
	await ask(socket, "mg item:1 v q k\r\nmg item:7 v q k\r\nmg item:2 v q k\r\nmn\r\n", "MN\r\n"); // quiet: misses say nothing
	await ask(socket, "ma count N0 J5 v\r\nma count v\r\n", "\r\n", 4);
	await ask(socket, "md item:7\r\n", "HD\r\n");
	await ask(socket, "md item:7\r\n", "NF\r\n");
	await ask(socket, "me user:1\r\n", "\r\n");
}

async function binary() {
	const cache = memjs.Client.create(`127.0.0.1:${port}`);
	await timed("set", () => cache.set("order:1", "placed", { expires: 60 }));
	await timed("get", () => cache.get("order:1"));
	await timed("get", () => cache.get("order:2"));
	await timed("add", () => cache.add("order:1", "again", {}));
	await timed("increment", () => cache.increment("total", 3, { initial: 5 }));
	await timed("append", () => cache.append("order:1", "x".repeat(3000)));
	await Promise.all([...Array(8).keys()].map((i) => timed("get", () => cache.get(`order:${i}`))));
	await timed("delete", () => cache.delete("order:1"));
	cache.close();
	const packet = (opcode, key, opaque) => {
		const head = Buffer.alloc(24);
		head.writeUInt8(0x80, 0);
		head.writeUInt8(opcode, 1);
		head.writeUInt16BE(key.length, 2);
		head.writeUInt32BE(key.length, 8);
		head.writeUInt32BE(opaque, 12);
		return Buffer.concat([head, Buffer.from(key)]);
	};
	const socket = net.connect(port, "127.0.0.1"); // three quiet gets, of which one hits, then a no-op
	await timed("quiet", () => new Promise((done) => {
		let n = 0;
		socket.on("data", (data) => (n += data.length) > 48 && done());
		socket.write(Buffer.concat([packet(0x09, "gone", 1), packet(0x09, "user:1", 2), packet(0x0d, "away", 3), packet(0x0a, "", 4)]));
	}));
	socket.end();
}

async function datagrams() {
	const socket = dgram.createSocket("udp4");
	const send = (id, line) => socket.send(Buffer.concat([Buffer.from([id >> 8, id & 255, 0, 0, 0, 1, 0, 0]), Buffer.from(line)]), port, "127.0.0.1");
	const answer = (ids) => new Promise((done) => socket.removeAllListeners("message").on("message", (data) => {
		ids.delete(data.readUInt16BE(0));
		if (ids.size === 0) done();
	}));
	await timed("udp get", () => { send(7, "get user:1\r\n"); return answer(new Set([7])); });
	await timed("udp get of 200 kB", () => { send(8, "get large\r\n"); return answer(new Set([8])); });
	await timed("udp 3 gets", () => { for (const id of [9, 10, 11]) send(id, `get user:${id}\r\n`); return answer(new Set([9, 10, 11])); });
	await new Promise((done) => setTimeout(done, 50));
	socket.close();
}

async function main() {
	const socket = net.connect(port, "127.0.0.1");
	await text(socket);
	await meta(socket);
	socket.end("quit\r\n");
	await binary();
	await datagrams();
}

main();
