// traces/protocols/websocket: a server of WebSocket and server-sent events, and its client.
// npm install ws; node websocket.js, while tcpdump listens to port 8123.
const http = require("http");
const { WebSocketServer, WebSocket } = require("ws");

const server = { host: "127.0.0.2", port: 8123, localAddress: "127.0.0.1" };
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function events(response) {
	let i = 0;
	response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
	response.flushHeaders();
	response.write("retry: 3000\n\n");
	const timer = setInterval(() => {
		response.write(`event: price\nid: ${i}\ndata: {"item":"apple-${i}","price":${100 + i}}\n\n`);
		if (i % 5 === 0) response.write(": alive\n\n");
		if (++i === 15) {
			clearInterval(timer);
			response.end();
		}
	}, 4);
}

const web = http.createServer((request, response) =>
	request.url === "/health" ? response.end("ok") : events(response));

function serve(options) {
	const sockets = new WebSocketServer({ noServer: true, ...options });
	sockets.on("connection", (socket) => socket.on("message", (message, isBinary) => {
		if (isBinary) return socket.send(Buffer.alloc(3000, 7));
		const { id, topic, size } = JSON.parse(message.toString());
		socket.send(JSON.stringify({ id, topic, answer: "x".repeat(size || 10) }));
	}));
	return sockets;
}

const plain = serve({});
const packed = serve({ perMessageDeflate: { threshold: 20 } });
web.on("upgrade", (request, socket, head) => {
	const sockets = request.url.startsWith("/packed") ? packed : plain;
	sockets.handleUpgrade(request, socket, head, (s) => sockets.emit("connection", s, request));
});

const get = (path, headers) => new Promise((done) =>
	http.get({ ...server, path, headers, agent: false }, (response) => {
		response.on("data", () => {});
		response.on("end", done);
	}));

async function chat(path, n) {
	const socket = new WebSocket(`ws://${server.host}:${server.port}${path}`,
		{ localAddress: server.localAddress });
	const next = (what) => new Promise((done) => socket.once(what, done));
	await next("open");
	for (let i = 0; i < n; i++) {
		const answer = next("message");
		socket.send(JSON.stringify({ id: i, topic: "orders", size: i % 7 === 0 ? 400 : 10 }));
		await answer;
		await sleep(2);
	}
	const joined = next("message");
	socket.send('{"id":99,', { fin: false });
	socket.ping("still here");
	await sleep(3);
	socket.send('"topic":"parts"}', { fin: true });
	await joined;
	const binary = next("message");
	socket.send(Buffer.alloc(70000, 1));
	await binary;
	socket.close(1000, "done");
	await next("close");
}

web.listen(server.port, server.host, async () => {
	await get("/health");
	await Promise.all([chat("/chat/7", 20), chat("/packed/8", 10),
		get("/events", { Accept: "text/event-stream" })]);
	await get("/health");
	process.exit(0);
});
