// traces/protocols/redis: clients of one server: RESP2 and RESP3, pipelines, transactions, scripts, blocking reads, pub/sub,
// streams, client-side caching, errors, a refused login.
// redis-server at 127.0.0.1:6399; npm install ioredis redis; tcpdump listens to that port.
const net = require("net");
const Redis = require("ioredis");
const { createClient } = require("redis");

const port = 6399;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function timed(what, promise) {
	const begin = process.hrtime.bigint();
	try {
		return await promise();
	} catch (error) {
		what += ` ${error.message.split(" ")[0]}`;
	} finally {
		console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} ${what}`);
	}
}

async function resp2() {
	const options = { host: "127.0.0.1", port, enableReadyCheck: false };
	const db = new Redis(options), other = new Redis(options), listener = new Redis(options);
	const call = (...more) => timed(more[0], () => db.call(...more));
	await call("FLUSHALL");
	for (let i = 0; i < 4; i++)
		await call("SET", `user:${i}`, `name ${i}`);
	await call("GET", "user:1");
	await call("GET", "missing");
	await call("SET", "large", "x".repeat(100000));
	await call("GET", "large");
	await call("HSET", "item:7", "name", "apple", "price", "7");
	await call("HGETALL", "item:7");
	await call("INCR", "large");
	await call("NOSUCH", "command");
	await call("EVAL", "return redis.call('get', KEYS[1])", "1", "user:2");
	const pipeline = db.pipeline();
	for (let i = 0; i < 20; i++)
		i % 2 ? pipeline.get(`user:${i % 4}`) : pipeline.set(`user:${i}`, "y".repeat(i * 20));
	await timed("pipeline of 20", () => pipeline.exec());
	await timed("transaction of 4", () => db.multi().set("a", 1).incr("a").get("a").lpush("a", 1).exec());
	await call("WATCH", "a");
	await timed("INCR", () => other.incr("a"));
	await timed("transaction of 1", () => db.multi().set("a", 9).exec());
	await timed("SUBSCRIBE", () => listener.subscribe("orders", "parts"));
	await timed("PSUBSCRIBE", () => listener.psubscribe("news.*"));
	for (const channel of ["orders", "news.a", "nobody", "parts"])
		await call("PUBLISH", channel, `about ${channel}`);
	await timed("UNSUBSCRIBE", () => listener.unsubscribe("orders"));
	const waiting = timed("BLPOP", () => other.blpop("jobs", 1));
	await sleep(60);
	await call("RPUSH", "jobs", "one");
	await waiting;
	await timed("BLPOP", () => other.blpop("jobs", 0.1));
	await call("XADD", "log", "*", "k", "v");
	await timed("XREAD", () => other.xread("BLOCK", 50, "STREAMS", "log", "$"));
	await Promise.all([...Array(8).keys()].map((i) => timed("GET", () => db.get(`user:${i}`))));
	for (const client of [db, other, listener])
		await timed("QUIT", () => client.quit());
}

async function resp3() {
	const db = createClient({ socket: { host: "127.0.0.1", port }, RESP: 3 });
	db.on("error", () => {});
	await timed("connect", () => db.connect());
	const send = (...words) => timed(words[0], () => db.sendCommand(words));
	await send("HGETALL", "item:7");
	await send("ZADD", "rank", "1.5", "a", "2.5", "b");
	await send("ZRANGE", "rank", "0", "-1", "WITHSCORES");
	await send("SMEMBERS", "none");
	await send("GET", "missing");
	await timed("SUBSCRIBE", () => db.subscribe("orders", () => {}));
	await send("PUBLISH", "orders", "to myself");
	await send("LPUSH", "rank", "1");
	await timed("close", () => db.close());
}

// Inline commands by hand: answers switched off and on again, a refused login, tracking.
async function silent() {
	const socket = net.connect(port, "127.0.0.1");
	for (const [lines, answers] of [["PING", 1], ["CLIENT REPLY OFF\r\nSET a 5\r\nGET a\r\nCLIENT REPLY ON", 1], ["GET a", 2],
		["CLIENT REPLY SKIP\r\nSET a 6\r\nGET a", 2], ["AUTH wrong", 1], ["HELLO 3", 1], ["CLIENT TRACKING ON", 1],
		["GET user:1", 2], ["SET user:1 new", 1], ["PING", 1]])
		await timed("by hand", () => new Promise((done) => {
			let text = "";
			socket.removeAllListeners("data").on("data", (data) => {
				text += data;
				if (text.split("\r\n").length > answers) done();
			});
			socket.write(`${lines}\r\n`);
		}));
	socket.end();
}

async function main() {
	await resp2();
	await resp3();
	await silent();
	process.exit(0);
}

main();
