// traces/protocols/mqtt: clients of MQTT 3.1.1 and 5 at one broker: each quality of service, wills, requests and answers.
// mosquitto at 127.0.0.1:1883 with the user shop, secret; npm install mqtt; tcpdump listens to that port.
const mqtt = require("mqtt");

const port = process.argv[2] || 1883;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const log = (what, begin) =>
	console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} ${what}`);

async function timed(what, promise) {
	const begin = process.hrtime.bigint();
	try {
		return await promise();
	} catch (error) {
		what += ` ${error.message}`;
	} finally {
		log(what, begin);
	}
}

const connect = (name, version, more) => timed(`connect ${version}`, () => mqtt.connectAsync({
	host: "127.0.0.1", port, protocolVersion: version, clientId: name, username: "shop",
	password: "secret", reconnectPeriod: 0, ...more,
}));

async function version(number) {
	const shop = await connect(`shop-${number}`, number, {
		keepalive: 1, will: { topic: `gone/shop-${number}`, payload: "gone", qos: 1 } });
	const store = await connect(`store-${number}`, number, { clean: false });
	store.on("message", (topic, payload, packet) => {
		const to = packet.properties?.responseTopic;
		if (to)
			store.publish(to, "answer", { properties: {
				correlationData: packet.properties.correlationData } });
	});
	await timed("subscribe", () => store.subscribeAsync(
		{ [`order/+/${number}`]: { qos: 2 }, [`part/${number}/#`]: { qos: 1 } }));
	for (let i = 0; i < 4; i++) // one after the other
		await timed("publish 1", () => shop.publishAsync(`order/${i}/${number}`, `order ${i}`, { qos: 1 }));
	await timed("publish 2", () => shop.publishAsync(`order/9/${number}`, "twice is too much", { qos: 2 }));
	await Promise.all([...Array(8).keys()].map((i) => // several on their way
		timed(`publish ${1 + (i & 1)}`, () =>
			shop.publishAsync(`part/${number}/${i}`, Buffer.alloc(i * 300, 65), { qos: 1 + (i & 1) }))));
	await timed("publish 0", () => shop.publishAsync(`order/0/${number}`, "whoever hears it", { retain: true }));
	await timed("publish 1", () => shop.publishAsync(`part/${number}/large`, Buffer.alloc(90000, 66), { qos: 1 }));
	if (number === 5) {
		await timed("subscribe", () => shop.subscribeAsync("answers/shop"));
		const answer = new Promise((done) => shop.once("message", done));
		await timed("request", () => shop.publishAsync("order/7/5", "how much?", { properties: {
			responseTopic: "answers/shop", correlationData: Buffer.from("c-1") } }).then(() => answer));
	}
	await timed("unsubscribe", () => store.unsubscribeAsync(`order/+/${number}`));
	await timed("disconnect", () => store.endAsync());
	await timed("publish 1", () => shop.publishAsync(`part/${number}/late`, "while away", { qos: 1 }));
	const again = await connect(`store-${number}`, number, { clean: false }); // the session goes on
	await sleep(1300); // pings
	await timed("disconnect", () => again.endAsync());
	shop.stream.destroy(); // the will
}

async function main() {
	await Promise.all([version(4), version(5)]);
	await connect("wrong", 4, { password: "wrong" });
	await connect("wrong", 5, { password: "wrong" });
	process.exit(0);
}

main();
