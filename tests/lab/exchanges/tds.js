// traces/protocols/tds: a real client (npm tedious) and a server that says what MS-TDS says, no more: there is no
// SQL Server to be had here. npm install tedious; node tds.js, while tcpdump listens to port 1433.
const net = require("net");
const { Connection, Request, TYPES } = require("tedious");

const host = "127.0.0.2", port = 1433;

const text = (s) => Buffer.from(s, "utf16le");
const short = (s) => Buffer.concat([Buffer.from([s.length]), text(s)]);
const le = (n, value) => {
	const b = Buffer.alloc(n);
	b.writeUIntLE(value, 0, Math.min(n, 6));
	return b;
};
const sized = (token, ...parts) => {
	const body = Buffer.concat(parts);
	return Buffer.concat([Buffer.from([token]), le(2, body.length), body]);
};
const done = (token, flags, count) => Buffer.concat([Buffer.from([token]), le(2, flags), le(2, 193), le(8, count)]);
const row = (value) => Buffer.concat([Buffer.from([0xd1, 4]), le(4, value)]);
const columns = Buffer.concat([Buffer.from([0x81]), le(2, 1), le(4, 0), le(2, 9), Buffer.from([0x26, 4]), short("id")]);
const failure = sized(0xaa, le(4, 208), Buffer.from([1, 16]), le(2, 7), text("no such"), short("db"), short(""), le(4, 1));
const loginAck = sized(0xad, Buffer.from([1, 0x74, 0, 0, 4]), short("Server"), Buffer.from([16, 0, 0, 0]));
const transaction = (type) => sized(0xe3, Buffer.from(type === 8 ? [8, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0] : [type, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0]));

// Packets of at most 4096 bytes.
function reply(socket, payload) {
	for (let at = 0, number = 1; at < payload.length; at += 4088, number++) {
		const part = payload.subarray(at, at + 4088), head = Buffer.alloc(8);
		head[0] = 4;
		head[1] = at + 4088 >= payload.length ? 1 : 0;
		head.writeUInt16BE(part.length + 8, 2);
		head.writeUInt16BE(51, 4);
		head[6] = number & 255;
		socket.write(Buffer.concat([head, part]));
	}
}

function answer(socket, type, payload) {
	const said = payload.toString("utf16le"), isProcedure = type === 3, last = isProcedure ? 0xfe : 0xfd;
	if (type === 0x12)
		return reply(socket, Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, 2]));
	if (type === 0x10) return reply(socket, Buffer.concat([loginAck, done(0xfd, 0, 0)]));
	if (type === 6) { // the response at hand ends, then the attention has its own
		reply(socket, done(0xfd, 2, 0));
		return reply(socket, done(0xfd, 0x20, 0));
	}
	if (type === 14) {
		const kind = payload.readUInt16LE(22);
		return reply(socket, Buffer.concat([transaction(kind === 5 ? 8 : kind === 7 ? 9 : 10), done(0xfd, 0, 0)]));
	}
	if (said.includes("WAITFOR")) return undefined;
	if (said.includes("set ansi_nulls")) return reply(socket, done(0xfd, 0, 0));
	if (said.includes("nowhere")) return reply(socket, Buffer.concat([failure, done(last, 2, 0)]));
	const n = said.includes("items") ? 1500 : 1;
	const rows = Buffer.concat(Array.from({ length: n }, (_, i) => row(i)));
	const status = isProcedure ? Buffer.from([0x79, 0, 0, 0, 0]) : Buffer.alloc(0);
	return setTimeout(() => reply(socket, Buffer.concat([columns, rows, status, done(last, 0x10, n)])), 2);
}

const server = net.createServer((socket) => {
	let kept = Buffer.alloc(0), message = [];
	socket.on("error", () => {});
	socket.on("data", (data) => {
		kept = Buffer.concat([kept, data]);
		while (kept.length >= 8 && kept.length >= kept.readUInt16BE(2)) {
			const packet = kept.subarray(0, kept.readUInt16BE(2));
			kept = kept.subarray(packet.length);
			message.push(packet.subarray(8));
			if (packet[1] & 1) {
				const whole = Buffer.concat(message);
				message = [];
				answer(socket, packet[0], whole);
			}
		}
	});
});

async function run() {
	const connection = new Connection({
		server: host, authentication: { type: "default", options: { userName: "ann", password: "secret" } },
		options: { port, encrypt: false, trustServerCertificate: true, localAddress: "127.0.0.1", connectTimeout: 3000 },
	});
	await new Promise((ok, bad) => connection.connect((error) => error ? bad(error) : ok()));
	const ask = (how, sql, prepare, cancelAfter) => new Promise((finished) => {
		const request = new Request(sql, (error) => {
			if (error) console.log(error.message);
			finished();
		});
		if (prepare) prepare(request);
		connection[how](request);
		if (cancelAfter) setTimeout(() => connection.cancel(), cancelAfter);
	});
	for (let i = 0; i < 4; i++)
		await ask("execSql", "SELECT id FROM [orders] WHERE customer = @c", (r) => r.addParameter("c", TYPES.Int, i));
	await ask("execSqlBatch", "SELECT id FROM items");
	await ask("execSqlBatch", "SELECT id FROM nowhere");
	await new Promise((finished) => connection.beginTransaction(finished));
	await ask("callProcedure", "dbo.add_order", (r) => r.addParameter("text", TYPES.NVarChar, "x".repeat(6000)));
	await new Promise((finished) => connection.commitTransaction(finished));
	await ask("execSqlBatch", "WAITFOR DELAY '00:01'", null, 20);
	await ask("execSqlBatch", "SELECT 1");
	connection.close();
	server.close();
	setTimeout(() => process.exit(0), 200);
}

server.listen(port, host, () => run().catch((error) => {
	console.log(error);
	process.exit(1);
}));
