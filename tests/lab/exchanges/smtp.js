// traces/protocols/smtp: mail to a server that takes it, with AUTH, with a recipient refused, and pipelined
// by hand. npm install smtp-server nodemailer; node smtp.js, while tcpdump listens to ports 8025 and 8026.
const net = require("net");
const nodemailer = require("nodemailer");
const { SMTPServer } = require("smtp-server");

const host = "127.0.0.2";

const server = (options) => new SMTPServer({
	name: "mx.example.org",
	authOptional: true,
	onAuth: (auth, session, done) =>
		auth.password === "secret" ? done(null, { user: auth.username }) : done(new Error("no")),
	onRcptTo: (address, session, done) =>
		address.address.startsWith("nobody") ? done(new Error("no such user")) : done(),
	onData: (stream, session, done) => stream.resume().on("end", () => setTimeout(done, 5)),
	...options,
});

async function send(options, mails) {
	const transport = nodemailer.createTransport({
		host, localAddress: "127.0.0.1", pool: true, maxConnections: 1,
		tls: { rejectUnauthorized: false }, ...options,
	});
	for (const mail of mails)
		await transport.sendMail(mail).catch((error) => console.log(error.message));
	transport.close();
}

const mail = (to, text) => ({
	from: "ann@example.org", to, subject: "Your order", text, messageId: `<${text.length}@example.org>`,
});

// What a mail server sends to one that knows PIPELINING.
const pipelined = (port) => new Promise((done) => {
	const lines = [
		"EHLO relay.example.org", "MAIL FROM:<ann@example.org>\r\nRCPT TO:<bob@example.com>\r\n" +
		"RCPT TO:<nobody@example.com>\r\nDATA", "Message-ID: <7@example.org>\r\n\r\nHi.\r\n..\r\n.\r\nQUIT",
	];
	const wanted = [/^220 .*\r\n/, /^250 .*\r\n/m, /^354 .*\r\n/m, /^221 .*\r\n/m];
	let said = "", at = 0;
	const socket = net.connect({ host, port, localAddress: "127.0.0.1" });
	socket.on("data", (data) => {
		said += data;
		if (!wanted[at].test(said)) return;
		said = "";
		if (at < lines.length) socket.write(lines[at++] + "\r\n");
	});
	socket.on("close", done);
});

async function run() {
	const plain = server({ hideSTARTTLS: true }).listen(8025, host);
	const secure = server({}).listen(8026, host);
	await new Promise((done) => setTimeout(done, 200));
	await send({ port: 8025 }, [mail("bob@example.com", "short"), mail("nobody@example.com", "x"),
		mail(["carol@example.com", "dave@example.com"], "long ".repeat(4000))]);
	await send({ port: 8025, auth: { user: "ann", pass: "secret" } }, [mail("eve@example.com", "I")]);
	await send({ port: 8025, auth: { user: "ann", pass: "wrong", method: "LOGIN" }, authMethod: "LOGIN" },
		[mail("eve@example.com", "never")]);
	await pipelined(8025);
	await send({ port: 8026 }, [mail("bob@example.com", "over TLS")]);
	await new Promise((done) => setTimeout(done, 200));
	plain.close();
	secure.close();
}

run().then(() => process.exit(0));
