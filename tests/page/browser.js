/*
 * Chromium, headless, through its debugging pipe: pages opened, keys pressed, scripts run, and everything heard that
 * a page must not do (requests, messages on the console, errors). Needs node alone, no packages.
 */
"use strict";

const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
	"--remote-debugging-pipe"];

class Browser {
	constructor(program) {
		this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "wirepath-page-"));
		this.process = spawn(program, [...flags, "--user-data-dir=" + this.profile, "about:blank"],
			{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
		this.waiting = new Map();
		this.number = 0;
		this.heard = []; /* what a page must not do */
		let rest = "";
		this.process.stdio[4].on("data", (data) => {
			const parts = (rest + data).split("\0");
			rest = parts.pop();
			parts.forEach((part) => this.take(JSON.parse(part)));
		});
	}

	take(message) {
		const waiting = this.waiting.get(message.id);
		if (waiting) {
			this.waiting.delete(message.id);
			if (message.error)
				waiting.fail(new Error(JSON.stringify(message.error)));
			else
				waiting.done(message.result);
		} else if (message.method === "Network.requestWillBeSent") {
			const url = message.params.request.url;
			if (!url.startsWith("file:") || message.params.type !== "Document")
				this.heard.push("request: " + url);
		} else if (message.method === "Runtime.consoleAPICalled") {
			this.heard.push("console: " + JSON.stringify(message.params.args));
		} else if (message.method === "Runtime.exceptionThrown") {
			this.heard.push("exception: " + JSON.stringify(message.params.exceptionDetails));
		} else if (message.method === "Page.javascriptDialogOpening") {
			/* A page waits for it. */
			this.heard.push("dialog: " + message.params.message);
			this.send("Page.handleJavaScriptDialog", { accept: true }).catch(() => {});
		} else if (message.method === "Log.entryAdded") {
			this.heard.push("log: " + message.params.entry.text);
		}
	}

	send(method, params, outside) {
		const id = ++this.number;
		const message = { id, method, params: params || {} };
		if (!outside)
			message.sessionId = this.session;
		this.process.stdio[3].write(JSON.stringify(message) + "\0");
		return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
	}

	async start() {
		const { targetInfos } = await this.send("Target.getTargets", {}, true);
		const target = targetInfos.find((one) => one.type === "page");
		const { sessionId } = await this.send("Target.attachToTarget", { targetId: target.targetId, flatten: true }, true);
		this.session = sessionId;
		for (const domain of ["Page", "Runtime", "Network", "Log"])
			await this.send(domain + ".enable");
	}

	/* {width, height, dark, print, scripts} are optional. */
	async open(url, look) {
		const wish = look || {};
		this.heard = [];
		await this.send("Emulation.setScriptExecutionDisabled", { value: wish.scripts === false });
		await this.send("Emulation.setDeviceMetricsOverride",
			{ width: wish.width || 1280, height: wish.height || 900, deviceScaleFactor: 1, mobile: false });
		await this.send("Emulation.setEmulatedMedia", { media: wish.print ? "print" : "screen",
			features: [{ name: "prefers-color-scheme", value: wish.dark ? "dark" : "light" },
				{ name: "prefers-reduced-motion", value: "reduce" }] });
		await this.send("Page.navigate", { url: "about:blank" });
		await this.send("Page.navigate", { url });
		if (!await this.until("document.readyState === 'complete'"))
			throw new Error(url + " does not load");
	}

	/* Whether EXPRESSION becomes true; a machine that is busy with other things gets half a minute. */
	async until(expression) {
		for (const end = Date.now() + 30000; Date.now() < end; await new Promise((done) => setTimeout(done, 20)))
			if (await this.ask(expression))
				return true;
		return false;
	}

	/* The value of EXPRESSION in the page (works with scripts of the page switched off, too). */
	async ask(expression) {
		const answer = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
		if (answer.exceptionDetails)
			throw new Error(expression + ": " + JSON.stringify(answer.exceptionDetails));
		return answer.result.value;
	}

	async press(key) {
		const names = { Enter: 13, Escape: 27, Tab: 9, ArrowUp: 38, ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39, Home: 36, End: 35 };
		const event = { key, windowsVirtualKeyCode: names[key] || 0 };
		if (key.length === 1)
			event.text = key;
		else if (key === "Enter")
			event.text = "\r";
		await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
		await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
	}

	async type(text) {
		for (const key of text)
			await this.press(key);
	}

	/* FILE chosen in the file field that SELECTOR finds. */
	async choose(selector, file) {
		const { root } = await this.send("DOM.getDocument");
		const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector });
		await this.send("DOM.setFileInputFiles", { nodeId, files: [fs.realpathSync(file)] });
	}

	async shot(file, clip) {
		const wish = { format: "png", captureBeyondViewport: !!clip };
		if (clip)
			wish.clip = { ...clip, scale: 1 };
		const { data } = await this.send("Page.captureScreenshot", wish);
		fs.writeFileSync(file, Buffer.from(data, "base64"));
	}

	async stop() {
		const ended = new Promise((done) => this.process.on("exit", done));
		this.send("Browser.close", {}, true).catch(() => {});
		await Promise.race([ended, new Promise((done) => setTimeout(done, 5000))]);
		this.process.kill("SIGKILL");
		await ended;
		fs.rmSync(this.profile, { recursive: true, force: true, maxRetries: 3 });
	}
}

/* ACTION(browser) says how much has failed; the process ends with that, 0 or 1. */
async function run(program, action) {
	const browser = new Browser(program);
	let failed = 1;
	try {
		await browser.start();
		failed = await action(browser);
	} catch (error) {
		console.log("FAIL: " + error.stack);
	}
	await browser.stop();
	process.exit(failed ? 1 : 0);
}

module.exports = { Browser, run };
