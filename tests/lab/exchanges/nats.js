// traces/protocols/nats: clients of one server: publish and subscribe, requests and answers, queue groups, headers, errors.
// nats-server -c FILE -p 4222 (FILE: authorization { users = [ { user: shop, password: secret,
// permissions: { publish: { deny: "secret.>" } } } ] }, ping_interval: "1s"); npm install nats; tcpdump listens to that port.
const { connect, headers, StringCodec, Empty } = require("nats");

const port = process.argv[2] || 4222;
const text = StringCodec();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

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

const open = (name, more) => timed("connect", () => connect({
	servers: `127.0.0.1:${port}`, user: "shop", pass: "secret", name, reconnect: false, ...more }));

async function worker(name, ms) {
	const connection = await open(name);
	connection.subscribe("price.*", { queue: "workers", callback: async (_error, message) => {
		await sleep(ms);
		const answer = headers();
		answer.set("By", name);
		message.respond(message.data.length > 1000 ? message.data : text.encode("7.50"), { headers: answer });
	} });
	connection.subscribe("order.>", { callback: () => {} });
	await timed("flush", () => connection.flush());
	return connection;
}

async function main() {
	const workers = [await worker("one", 2), await worker("two", 4)];
	const shop = await open("shop");
	for (let i = 0; i < 5; i++)
		await timed("request", () => shop.request(`price.${i}`, text.encode(`{"item":${i}}`), { timeout: 500 }));
	await Promise.all([...Array(12).keys()].map((i) =>
		timed("request", () => shop.request(`price.${i}`, text.encode(`item ${i}`), { timeout: 500 }))));
	await timed("request", () => shop.request("price.large", new Uint8Array(120000).fill(66), { timeout: 500 }));
	await timed("request", () => shop.request("price.own", text.encode("own inbox"), { timeout: 500, noMux: true }));
	await timed("request", () => shop.request("nobody.home", Empty, { timeout: 500 }));
	for (let i = 0; i < 6; i++)
		shop.publish(`order.${i}.placed`, text.encode(`order ${i}`));
	await timed("flush", () => shop.flush());
	shop.publish("secret.a", text.encode("may not"));
	await timed("flush", () => shop.flush());
	await sleep(1300); // the server's pings
	for (const connection of [...workers, shop])
		await timed("drain", () => connection.drain());
	await open("wrong", { pass: "wrong" });
	process.exit(0);
}

main();
