// traces/protocols/mongodb: the driver of MongoDB against a server made from the specification (MongoDB wire protocol: OP_MSG,
// OP_QUERY for the first hello, OP_COMPRESSED), for there is no other: it keeps documents in an array and finds all of them.
// npm install mongodb bson; tcpdump listens to port 27117.
const net = require("net");
const zlib = require("zlib");
const { MongoClient } = require("mongodb");
const BSON = require("bson");

const port = 27117;
const OP_REPLY = 1, OP_QUERY = 2004, OP_COMPRESSED = 2012, OP_MSG = 2013;
const MORE_TO_COME = 2, EXHAUST_ALLOWED = 1 << 16;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const items = [];
let number = 1000;

function frame(opcode, to, body) {
	const head = Buffer.alloc(16);
	head.writeInt32LE(16 + body.length, 0);
	head.writeInt32LE(++number, 4);
	head.writeInt32LE(to, 8);
	head.writeInt32LE(opcode, 12);
	return Buffer.concat([head, body]);
}

function message(to, document, flags, packed) {
	const body = Buffer.concat([Buffer.from([flags, 0, 0, 0, 0]), BSON.serialize(document)]);
	if (!packed) return frame(OP_MSG, to, body);
	const head = Buffer.alloc(9);
	head.writeInt32LE(OP_MSG, 0);
	head.writeInt32LE(body.length, 4);
	head.writeUInt8(2, 8); // zlib
	return frame(OP_COMPRESSED, to, Buffer.concat([head, zlib.deflateSync(body)]));
}

const hello = () => ({ ismaster: true, isWritablePrimary: true, helloOk: true, maxBsonObjectSize: 16777216,
	maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000, localTime: new Date(), minWireVersion: 0, maxWireVersion: 17,
	compression: ["zlib"], topologyVersion: { processId: new BSON.ObjectId("6560000000000000000000aa"), counter: BSON.Long.fromNumber(1) }, ok: 1 });

async function answer(command, sequences) {
	const name = Object.keys(command)[0];
	const space = `shop.${command[name]}`;
	switch (name) {
	case "hello": case "ismaster": case "isMaster":
		return hello();
	case "insert": {
		const documents = command.documents || sequences.documents;
		if (documents.some((d) => items.some((i) => i._id === d._id)))
			return { ok: 1, n: 0, writeErrors: [{ index: 0, code: 11000, errmsg: "E11000 duplicate key" }] };
		items.push(...documents);
		return { ok: 1, n: documents.length };
	}
	case "find":
		return { ok: 1, cursor: { id: BSON.Long.fromNumber(items.length > 10 && !command.limit ? 77 : 0), ns: space, firstBatch: items.slice(0, command.limit || 10) } };
	case "getMore":
		await sleep(command.collection === "log" ? 80 : 1);
		return { ok: 1, cursor: { id: BSON.Long.fromNumber(0), ns: `shop.${command.collection}`, nextBatch: items.slice(10) } };
	case "aggregate":
		return { ok: 1, cursor: { id: BSON.Long.fromNumber(0), ns: space, firstBatch: [{ n: items.length }] } };
	case "update": case "delete":
		return { ok: 1, n: 1, nModified: 1 };
	case "count": case "ping": case "endSessions": case "killCursors":
		return { ok: 1, n: items.length };
	case "sleep":
		await sleep(command.ms);
		return { ok: 1 };
	default:
		return { ok: 0, code: 59, codeName: "CommandNotFound", errmsg: `no such command: '${name}'` };
	}
}

function read(body) { // of OP_MSG: the command, and sequences of documents
	let at = 4, command = {};
	const sequences = {};
	while (at < body.length) {
		const kind = body[at++], size = body.readInt32LE(at);
		if (kind === 0) {
			command = BSON.deserialize(body.subarray(at, at + size));
		} else {
			const end = body.indexOf(0, at + 4), name = body.toString("utf8", at + 4, end);
			sequences[name] = [];
			for (let p = end + 1; p < at + size; p += body.readInt32LE(p))
				sequences[name].push(BSON.deserialize(body.subarray(p, p + body.readInt32LE(p))));
		}
		at += size;
	}
	return { command, sequences };
}

async function serve(socket, packet) {
	let id = packet.readInt32LE(4), opcode = packet.readInt32LE(12), body = packet.subarray(16), packed = false;
	if (opcode === OP_COMPRESSED) {
		opcode = body.readInt32LE(0);
		body = zlib.inflateSync(body.subarray(9));
		packed = true;
	}
	if (opcode === OP_QUERY) {
		const head = Buffer.alloc(20);
		head.writeInt32LE(1, 16);
		return socket.write(frame(OP_REPLY, id, Buffer.concat([head, BSON.serialize(hello())])));
	}
	const flags = body.readInt32LE(0), { command, sequences } = read(body);
	if (command.maxAwaitTimeMS) { // says so again and again, until the client goes away
		for (let to = id; !socket.destroyed; to = number) {
			await sleep(100);
			socket.write(message(to, hello(), flags & EXHAUST_ALLOWED ? MORE_TO_COME : 0, packed));
			if (!(flags & EXHAUST_ALLOWED)) return;
		}
		return;
	}
	const document = await answer(command, sequences);
	if (!(flags & MORE_TO_COME))
		socket.write(message(id, document, 0, packed));
}

const server = net.createServer((socket) => {
	let seen = Buffer.alloc(0);
	socket.on("error", () => {});
	socket.on("data", (data) => {
		seen = Buffer.concat([seen, data]);
		while (seen.length >= 4 && seen.length >= seen.readInt32LE(0)) {
			const size = seen.readInt32LE(0);
			serve(socket, seen.subarray(0, size));
			seen = seen.subarray(size);
		}
	});
});

async function timed(what, promise) {
	const begin = process.hrtime.bigint();
	try {
		return await promise();
	} catch (error) {
		what += ` ${error.code || error.message}`;
	} finally {
		console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} ${what}`);
	}
}

async function run(options) {
	const client = new MongoClient(`mongodb://127.0.0.1:${port}/`, { heartbeatFrequencyMS: 500, maxPoolSize: 4, ...options });
	await timed("connect", () => client.connect());
	const db = client.db("shop"), collection = db.collection("items");
	for (let i = 0; i < 3; i++)
		await timed("insert", () => collection.insertOne({ _id: items.length, name: `item ${i}` }));
	await timed("insert", () => collection.insertOne({ _id: 0 }));
	await timed("insert many", () => collection.insertMany([...Array(20).keys()].map((i) => ({ _id: items.length + i, note: "x".repeat(i * 60) }))));
	await timed("find", () => collection.findOne({ name: "item 1" }));
	await timed("find all", () => collection.find({ price: { $gt: 5 } }).toArray());
	await timed("update", () => collection.updateOne({ _id: 1 }, { $set: { price: 7 } }));
	await timed("delete", () => collection.deleteOne({ _id: 2 }));
	await timed("aggregate", () => collection.aggregate([{ $match: { price: 1 } }, { $count: "n" }]).toArray());
	await timed("nosuch", () => db.command({ nosuch: 1 }));
	await timed("insert unacknowledged", () => db.collection("log").insertOne({ _id: 100000 + items.length }, { writeConcern: { w: 0 } }));
	await Promise.all([...Array(8).keys()].map((i) => timed("sleep", () => db.command({ sleep: 1, ms: 5 * (8 - i) }))));
	await timed("insert large", () => collection.insertOne({ _id: items.length, text: "y".repeat(200000) }));
	await sleep(350); // hello, awaited
	await timed("close", () => client.close());
}

server.listen(port, "127.0.0.1", async () => {
	await run({});
	items.length = 0;
	await run({ compressors: ["zlib"], serverMonitoringMode: "poll" });
	process.exit(0);
});
