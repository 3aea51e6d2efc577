// traces/protocols/kafka: a producer, a consumer in a group, an administrator, and kcat, at kafka_broker.py, which is made from
// the protocol guide. npm install kafkajs; kcat; tcpdump listens to port 9092.
const { execFileSync } = require("child_process");
const { Kafka, logLevel, CompressionTypes } = require("kafkajs");

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function timed(what, promise) {
	const begin = process.hrtime.bigint();
	try {
		return await promise();
	} catch (error) {
		what += ` ${error.type || error.message}`;
	} finally {
		console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} ${what}`);
	}
}

function kcat(input, ...more) {
	const begin = process.hrtime.bigint();
	execFileSync("kcat", ["-b", "127.0.0.1:9092", ...more], { input, timeout: 5000, stdio: ["pipe", "ignore", "ignore"] });
	console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} kcat ${more[0]}`);
}

async function main() {
	const kafka = new Kafka({ clientId: "shop", brokers: ["127.0.0.1:9092"], logLevel: logLevel.NOTHING, retry: { retries: 1 } });
	const producer = kafka.producer(), consumer = kafka.consumer({ groupId: "store", maxWaitTimeInMs: 100, heartbeatInterval: 300 });
	const send = (acks, n, size, more) => timed(`send ${acks}`, () => producer.send({ topic: "orders", acks, ...more,
		messages: [...Array(n).keys()].map((i) => ({ key: `k${i}`, value: `order ${i} ${"x".repeat(size)}` })) }));
	await timed("connect", () => producer.connect());
	for (let i = 0; i < 3; i++)
		await send(-1, 2, 10);
	await send(0, 1, 10); // nobody answers
	await send(1, 30, 2000);
	await send(1, 30, 200, { compression: CompressionTypes.GZIP });
	await Promise.all([...Array(6).keys()].map(() => send(-1, 1, 50)));
	let seen = 0;
	await timed("connect", () => consumer.connect());
	await timed("subscribe", () => consumer.subscribe({ topic: "orders", fromBeginning: true }));
	await timed("run", () => consumer.run({ eachMessage: async () => { seen++; } }));
	await sleep(400);
	await send(-1, 1, 10);
	await sleep(250);
	const admin = kafka.admin();
	await timed("connect", () => admin.connect());
	await timed("offsets", () => admin.fetchTopicOffsets("orders"));
	await timed("missing", () => admin.fetchTopicMetadata({ topics: ["missing"] }));
	for (const client of [admin, consumer, producer])
		await timed("disconnect", () => client.disconnect());
	console.log(`${seen} messages`);
	kcat("", "-L");
	kcat("one\ntwo\nthree\n", "-P", "-t", "orders", "-p", "1");
	kcat("", "-C", "-t", "orders", "-e", "-o", "beginning", "-X", "check.crcs=false");
}

main();
