// The services of the TLS lab behind nginx: tls_web.js LOG SEED web|stock CERT KEY BYTES [plain].
//
// BYTES: of the largest page.
//
//     nginx ---HTTP/1.1 over TLS---> web ---gRPC over TLS, one connection---> stock
//
// gRPC is @grpc/grpc-js with messages as bytes: 8 random bytes that make a request of its own of each call
// and are never passed on, then filling. The call log (tls_truth.py reads it) has a line for each call made
// or taken:
//
//     in   service/method  key        out  service/method  key  key of the request on whose behalf
"use strict";

const fs = require("fs");
const https = require("https");
const grpc = require("@grpc/grpc-js");

const [logPath, seed, role, certPath, keyPath, size, plain] = process.argv.slice(2);
const HOSTS = { web: "10.22.0.30", stock: "10.22.0.40" };
const WEB_PORT = 8443, STOCK_PORT = 50051;
const cert = fs.readFileSync(certPath), key = fs.readFileSync(keyPath);
const rows = [];

process.on("SIGTERM", () => {
  fs.writeFileSync(logPath, rows.map((row) => row.join("\t") + "\n").join(""));
  process.exit(0);
});

// xorshift, so that the seed fixes what is done
let state = BigInt(seed) * 2654435761n + (role === "web" ? 88172645463325252n : 362436069n);

function random() {
  state ^= (state << 13n) & 0xffffffffffffffffn;
  state ^= state >> 7n;
  state ^= (state << 17n) & 0xffffffffffffffffn;
  return Number(state >> 11n & 0x1fffffffffffffn) / 2 ** 53;
}

const exponential = (mean) => -Math.log(1 - random()) * mean;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const bytes = (value) => value;

function randomKey() {
  const text = [];
  for (let i = 0; i < 8; i++)
    text.push(Math.floor(random() * 256));
  return Buffer.from(text);
}

const method = (name, streams) => ({
  path: `/shop.v1.Stock/${name}`, requestStream: false, responseStream: streams,
  requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes,
  responseDeserialize: bytes,
});
const STOCK = { Level: method("Level", false), Reserve: method("Reserve", false),
                Similar: method("Similar", true) };

// --- stock

async function answer(name, call, callback) {
  rows.push(["in", `shop.v1.Stock/${name}`, call.request.subarray(0, 8).toString("hex")]);
  await pause(exponential(name === "Reserve" ? 6 : 3));
  if (name === "Reserve" && random() < 0.05)
    callback({ code: grpc.status.FAILED_PRECONDITION, details: "none left" });
  else
    callback(null, Buffer.alloc(20 + Math.floor(random() * 400), 65));
}

async function stream(call) {
  rows.push(["in", "shop.v1.Stock/Similar", call.request.subarray(0, 8).toString("hex")]);
  for (let i = 0; i < 3; i++) {
    await pause(exponential(1.5));
    call.write(Buffer.alloc(Math.floor(size / 5), 66));
  }
  call.end();
}

function serveStock() {
  const server = new grpc.Server();
  const credentials = plain ? grpc.ServerCredentials.createInsecure() :
    grpc.ServerCredentials.createSsl(null, [{ private_key: key, cert_chain: cert }]);
  server.addService(STOCK, {
    Level: (call, callback) => answer("Level", call, callback),
    Reserve: (call, callback) => answer("Reserve", call, callback),
    Similar: stream,
  });
  server.bindAsync(`${HOSTS.stock}:${STOCK_PORT}`, credentials, (error) => {
    if (error)
      throw error;
    console.log("ready");
  });
}

// --- web

function makeStock() {
  const Client = grpc.makeGenericClientConstructor(STOCK, "Stock");
  const credentials = plain ? grpc.credentials.createInsecure() : grpc.credentials.createSsl(cert);
  return new Client(`${HOSTS.stock}:${STOCK_PORT}`, credentials,
                    { "grpc.ssl_target_name_override": "shop.example" });
}

function ask(stock, name, parent) {
  const message = randomKey();
  rows.push(["out", `shop.v1.Stock/${name}`, message.toString("hex"), parent]);
  const request = Buffer.concat([message, Buffer.alloc(Math.floor(random() * 60), 67)]);
  return new Promise((done) => {
    if (name !== "Similar")
      return stock[name](request, () => done());
    const call = stock.Similar(request);
    call.on("data", () => {});
    call.on("error", () => {});
    call.on("end", done);
  });
}

async function page(stock, url, body) {
  const parent = url.searchParams.get("k");
  rows.push(["in", url.pathname.split("/")[1], parent]);
  await pause(exponential(1));
  if (url.pathname.startsWith("/order")) {
    await ask(stock, "Level", parent);
    await ask(stock, "Reserve", parent);
  } else if (url.pathname.startsWith("/item")) {
    await Promise.all([ask(stock, "Level", parent), ask(stock, "Similar", parent)]);
  } else {
    await ask(stock, "Level", parent);
  }
  return Buffer.alloc(200 + body + Math.floor(random() * size), 68);
}

function serveWeb() {
  const stock = makeStock();
  const server = https.createServer({ cert, key }, (request, response) => {
    let body = 0;
    request.on("data", (data) => { body += data.length; });
    request.on("end", async () => {
      const reply = await page(stock, new URL(request.url, "https://shop.example"), body);
      response.writeHead(200, { "content-type": "text/plain", "content-length": reply.length });
      response.end(reply);
    });
  });
  server.keepAliveTimeout = 60000;
  server.listen(WEB_PORT, HOSTS.web, () => {
    stock.waitForReady(Date.now() + 10000, (error) => {
      if (error)
        throw error;
      console.log("ready");
    });
  });
}

if (role === "web")
  serveWeb();
else
  serveStock();
