// traces/protocols/cql: the driver of Cassandra against a server made from the specification (CQL binary protocol, versions 3 to 5;
// the driver takes 4), for there is no other. npm install cassandra-driver; tcpdump listens to port 9142.
const net = require("net");
const cassandra = require("cassandra-driver");

const port = 9142;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const ERROR = 0, STARTUP = 1, READY = 2, AUTHENTICATE = 3, OPTIONS = 5, SUPPORTED = 6, QUERY = 7, RESULT = 8, PREPARE = 9,
	EXECUTE = 10, REGISTER = 11, EVENT = 12, BATCH = 13, AUTH_RESPONSE = 15, AUTH_SUCCESS = 16;
const INT = 9, TEXT = 13, UUID = 12, INET = 16;

const short = (n) => Buffer.from([n >> 8, n & 255]);
const int = (n) => { const b = Buffer.alloc(4); b.writeInt32BE(n); return b; };
const string = (s) => Buffer.concat([short(Buffer.byteLength(s)), Buffer.from(s)]);
const bytes = (b) => b === null ? int(-1) : Buffer.concat([int(b.length), b]);
const strings = (list) => Buffer.concat([short(list.length), ...list.map(string)]);
const frame = (stream, opcode, body) => Buffer.concat([Buffer.from([0x84, 0]), short(stream & 0xffff), Buffer.from([opcode]), bytes(body)]);

function rows(table, columns, values) { // columns: [name, type, ...]
	const meta = Buffer.concat([int(1), int(columns.length), string("shop"), string(table),
		...columns.flatMap(([name, ...type]) => [string(name), ...type.map(short)])]);
	return Buffer.concat([int(2), meta, int(values.length), ...values.flatMap((row) => row.map(bytes))]);
}

const HOST = Buffer.alloc(16, 7);
const LOCAL = [["key", TEXT], ["cluster_name", TEXT], ["data_center", TEXT], ["rack", TEXT], ["release_version", TEXT], ["partitioner", TEXT],
	["rpc_address", INET], ["host_id", UUID], ["schema_version", UUID], ["tokens", 0x22, TEXT]];
const TOKENS = Buffer.concat([int(1), bytes(Buffer.from("0"))]);
const text = (s) => Buffer.from(s);

function select(query) {
	if (/system\.local/.test(query))
		return rows("local", LOCAL, [[text("local"), text("Shop"), text("dc1"), text("r1"), text("3.11.4"),
			text("org.apache.cassandra.dht.Murmur3Partitioner"), Buffer.from([127, 0, 0, 1]), HOST, HOST, TOKENS]]);
	if (/system/.test(query))
		return rows("none", [["key", TEXT]], []);
	const n = /WHERE id/.test(query) ? 1 : 40;
	return rows("items", [["id", INT], ["name", TEXT]], [...Array(n).keys()].map((i) => [int(i), text(`item ${i}`.padEnd(i * 9))]));
}

const error = (code, what) => Buffer.concat([int(code), string(what), ...(code === 0x1200 ? [short(1), int(1), int(2), Buffer.from([0])] : [])]);

async function answer(opcode, body) {
	const query = opcode === QUERY || opcode === PREPARE ? body.toString("utf8", 4, 4 + body.readInt32BE(0)) : "";
	switch (opcode) {
	case OPTIONS: return [SUPPORTED, Buffer.concat([short(2), string("CQL_VERSION"), strings(["3.4.4"]), string("COMPRESSION"), strings([])])];
	case STARTUP: return [AUTHENTICATE, string("org.apache.cassandra.auth.PasswordAuthenticator")];
	case AUTH_RESPONSE:
		return body.includes("wrong") ? [ERROR, error(0x0100, "bad credentials")] : [AUTH_SUCCESS, int(-1)];
	case REGISTER: return [READY, Buffer.alloc(0)];
	case PREPARE: {
		const names = /INSERT/.test(query) ? [["id", INT], ["name", TEXT]] : [["id", INT]];
		const id = Buffer.concat([Buffer.alloc(15, 1), Buffer.from([/INSERT/.test(query) ? 2 : 1])]);
		return [RESULT, Buffer.concat([int(4), short(16), id, int(1), int(names.length), int(1), short(0), string("shop"), string("items"),
			...names.flatMap(([name, type]) => [string(name), short(type)]), int(4), int(0)])];
	}
	case EXECUTE:
		await sleep(2);
		return [RESULT, body[17] === 2 ? int(1) : select("WHERE id")];
	case BATCH: return [RESULT, int(1)];
	default:
		if (/SLEEP (\d+)/.test(query)) await sleep(+query.match(/SLEEP (\d+)/)[1]);
		if (/broken/.test(query)) return [ERROR, error(0x2000, "line 1: no viable alternative")];
		if (/late/.test(query)) return [ERROR, error(0x1200, "timed out")];
		if (/^USE/.test(query)) return [RESULT, Buffer.concat([int(3), string("shop")])];
		return [RESULT, /^SELECT/.test(query) ? select(query) : int(1)];
	}
}

const server = net.createServer((socket) => {
	let seen = Buffer.alloc(0);
	socket.on("error", () => {});
	socket.on("data", (data) => {
		seen = Buffer.concat([seen, data]);
		while (seen.length >= 9 && seen.length >= 9 + seen.readInt32BE(5)) {
			const [version, stream, opcode, body] = [seen[0], seen.readInt16BE(2), seen[4], seen.subarray(9, 9 + seen.readInt32BE(5))];
			seen = seen.subarray(9 + body.length);
			if (version > 4)
				socket.write(frame(stream, ERROR, error(0x000a, "Invalid or unsupported protocol version (5); the lowest supported version is 3 and the greatest is 4")));
			else
				answer(opcode, body).then(([code, content]) => {
					socket.write(frame(stream, code, content));
					if (opcode === REGISTER) setTimeout(() => socket.write(frame(-1, EVENT, Buffer.concat([string("SCHEMA_CHANGE"),
						string("UPDATED"), string("TABLE"), string("shop"), string("items")]))), 60);
				});
		}
	});
});

async function timed(what, promise) {
	const begin = process.hrtime.bigint();
	try {
		return await promise();
	} catch (problem) {
		what += ` ${problem.code || problem.name}`;
	} finally {
		console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} ${what}`);
	}
}

async function main() {
	const settings = { contactPoints: [`127.0.0.1:${port}`], localDataCenter: "dc1", keyspace: "shop", isMetadataSyncEnabled: false,
		pooling: { heartBeatInterval: 200 }, protocolOptions: { port },
		policies: { retry: new cassandra.policies.retry.FallthroughRetryPolicy() } };
	const client = new cassandra.Client({ ...settings, credentials: { username: "shop", password: "secret" } });
	const run = (...more) => timed("query", () => client.execute(...more));
	await timed("connect", () => client.connect());
	await run("SELECT id, name FROM items WHERE id = 5");
	await run("SELECT id, name FROM items");
	await run("INSERT INTO items (id, name) VALUES (7, 'apple')");
	await run("SELECT broken");
	await run("SELECT late FROM items");
	for (let i = 0; i < 4; i++)
		await run("SELECT name FROM items WHERE id = ?", [i], { prepare: true });
	for (let i = 0; i < 3; i++)
		await run("INSERT INTO items (id, name) VALUES (?, ?)", [i, "x".repeat(i * 4000)], { prepare: true });
	await timed("batch", () => client.batch(["UPDATE items SET name = 'a' WHERE id = 1", "DELETE FROM items WHERE id = 2"]));
	await Promise.all([...Array(20).keys()].map((i) => run(`SELECT id FROM items WHERE id = ${i} -- SLEEP ${i % 5 * 10}`)));
	await sleep(500); // heartbeats, an event
	await timed("shutdown", () => client.shutdown());
	const wrong = new cassandra.Client({ ...settings, credentials: { username: "shop", password: "wrong" } });
	await timed("connect", () => wrong.connect());
	await wrong.shutdown();
	process.exit(0);
}

server.listen(port, "127.0.0.1", main);
