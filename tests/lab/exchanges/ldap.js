// traces/protocols/ldap: clients of one directory: add, search by pages and many at once, compare, modify, rename, errors.
// slapd at 127.0.0.1:389 with the suffix dc=example,dc=org, cn=admin and the password secret; npm install ldapjs; ldap-utils;
// tcpdump listens to that port.
const { execFileSync } = require("child_process");
const ldap = require("ldapjs");

const port = process.argv[2] || 389;
const url = `ldap://127.0.0.1:${port}`;
const base = "dc=example,dc=org";
const admin = `cn=admin,${base}`;

async function timed(what, begin) {
	const from = process.hrtime.bigint();
	try {
		return await new Promise((done, failed) => begin((error, result) => error ? failed(error) : done(result)));
	} catch (error) {
		what += ` ${error.name}`;
	} finally {
		console.log(`${(Number(process.hrtime.bigint() - from) / 1e9).toFixed(6)} ${what}`);
	}
}

const search = (client, dn, options) => timed("search", (done) =>
	client.search(dn, options, (error, result) => {
		let entries = 0;
		if (error) return done(error);
		result.on("searchEntry", () => entries++);
		result.on("error", done);
		result.on("end", () => done(null, entries));
	}));

function tool(name, ...more) {
	const from = process.hrtime.bigint();
	let status = 0;
	try {
		execFileSync(name, ["-x", "-H", url, "-D", admin, "-w", "secret", ...more], { stdio: "ignore", timeout: 800 });
	} catch (error) {
		status = error.status;
	}
	console.log(`${(Number(process.hrtime.bigint() - from) / 1e9).toFixed(6)} ${name} ${status}`);
}

async function main() {
	const client = ldap.createClient({ url });
	client.on("error", () => {});
	await timed("bind", (done) => client.bind(admin, "secret", done));
	await timed("add", (done) => client.add(base, { objectClass: ["dcObject", "organization"], o: "Shop", dc: "example" }, done));
	await timed("add", (done) => client.add(`ou=people,${base}`, { objectClass: "organizationalUnit", ou: "people" }, done));
	for (let i = 0; i < 12; i++)
		await timed("add", (done) => client.add(`uid=user${i},ou=people,${base}`, { objectClass: "inetOrgPerson", uid: `user${i}`,
			cn: `User ${i}`, sn: `${i}`, mail: `user${i}@example.org`, userPassword: "secret", jpegPhoto: Buffer.alloc(i * 700, i) }, done));
	await timed("add", (done) => client.add(`uid=user1,ou=people,${base}`, { objectClass: "inetOrgPerson", uid: "user1", cn: "x", sn: "x" }, done));
	await search(client, base, { scope: "sub", filter: "(&(objectClass=inetOrgPerson)(|(uid=user1*)(mail=*)))" });
	await search(client, base, { scope: "sub", filter: "(objectClass=*)", paged: { pageSize: 5 }, attributes: ["uid"] });
	await search(client, `ou=nowhere,${base}`, { scope: "base" });
	await search(client, base, { scope: "sub", filter: "(uid=*)", sizeLimit: 3 });
	await Promise.all([...Array(12).keys()].map((i) => // many outstanding, of different lengths
		search(client, i % 3 ? `uid=user${i},ou=people,${base}` : base, { scope: i % 3 ? "base" : "sub" })));
	await timed("compare", (done) => client.compare(`uid=user1,ou=people,${base}`, "sn", "1", done));
	await timed("compare", (done) => client.compare(`uid=user1,ou=people,${base}`, "sn", "2", done));
	await timed("modify", (done) => client.modify(`uid=user1,ou=people,${base}`, new ldap.Change({ operation: "replace",
		modification: new ldap.Attribute({ type: "sn", values: ["One"] }) }), done));
	await timed("modifyDN", (done) => client.modifyDN(`uid=user2,ou=people,${base}`, "uid=second", done));
	await timed("extended", (done) => client.exop("1.3.6.1.4.1.4203.1.11.3", (error, value) => done(error, value)));
	await timed("del", (done) => client.del(`uid=user3,ou=people,${base}`, done));
	await timed("del", (done) => client.del(`uid=user3,ou=people,${base}`, done));
	tool("ldapsearch", "-b", base, "-l", "2", "(uid=user*)");
	tool("ldapwhoami");
	tool("ldapsearch", "-b", base, "-E", "!sync=rp", "(uid=user1)"); // waits for changes until it is ended
	await timed("bind", (done) => client.bind(admin, "wrong", done));
	await timed("unbind", (done) => client.unbind(done));
	process.exit(0);
}

main();
