/*
 * Services of run-traced, and who asks them:
 *
 *   node traced.js serve NAME PORT SPANS|- UPSTREAM...    GET anything: 2 to 6 ms, then each UPSTREAM in turn
 *   node traced.js ask CLIENTS REQUESTS URL                a closed loop, a connection a client
 *
 * With SPANS it is instrumented by OpenTelemetry's SDK, whose spans go to that file as lines of OTLP JSON.
 */
"use strict";

const fs = require("fs");

function trace(name, file) {
	const { NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");
	const { SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-base");
	const { registerInstrumentations } = require("@opentelemetry/instrumentation");
	const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http");
	const { JsonTraceSerializer } = require("@opentelemetry/otlp-transformer");
	const { resourceFromAttributes } = require("@opentelemetry/resources");
	const exporter = {
		export(spans, done) {
			fs.appendFileSync(file, Buffer.from(JsonTraceSerializer.serializeRequest(spans)).toString() + "\n");
			done({ code: 0 });
		},
		shutdown: () => Promise.resolve(),
	};
	new NodeTracerProvider({
		resource: resourceFromAttributes({ "service.name": name }),
		spanProcessors: [new SimpleSpanProcessor(exporter)],
	}).register();
	registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function get(http, agent, url) {
	return new Promise((done, fail) =>
		http.get(url, { agent }, (answer) => answer.resume().on("end", done)).on("error", fail));
}

function serve(name, port, file, ...upstreams) {
	if (file !== "-")
		trace(name, file);
	const http = require("http");
	const agent = new http.Agent({ keepAlive: true });
	http.createServer(async (request, answer) => {
		await sleep(2 + 4 * Math.random());
		for (const upstream of upstreams)
			await get(http, agent, upstream + request.url);
		answer.end("ok from " + name);
	}).listen(+port, "127.0.0.1");
}

async function ask(clients, requests, url) {
	const http = require("http");
	let next = 0;
	await Promise.all([...Array(+clients)].map(async () => {
		const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
		while (next < requests)
			await get(http, agent, url + "/item/" + ++next);
		agent.destroy();
	}));
}

const [what, ...rest] = process.argv.slice(2);
({ serve, ask })[what](...rest);
