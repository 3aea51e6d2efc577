"""Real servers of the lab with their configuration: PostgreSQL, Redis, memcached, nginx."""

import glob
import os
import shutil
import subprocess

import places

SCHEMA = """
CREATE TABLE items (id int PRIMARY KEY, name text, price int, about text, sold int DEFAULT 0);
CREATE TABLE orders (id serial PRIMARY KEY, buyer int, item int REFERENCES items,
                     count int CHECK (count > 0));
INSERT INTO items SELECT n, (ARRAY['lamp','table','chair','clock','glass','spoon','paper','candle',
    'basket','mirror'])[1 + n %% 10] || ' ' || n, 100 + 7 * n, repeat('fine work ', 1 + n %% 9)
    FROM generate_series(1, %(items)d) n;
CREATE FUNCTION search(word text) RETURNS TABLE (id int, name text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(0.002 - 0.004 * ln(1 - random()));
    RETURN QUERY SELECT i.id, i.name FROM items i WHERE i.name LIKE word || '%%' LIMIT 5;
END $$;
CREATE FUNCTION orders_of(who int) RETURNS TABLE (id int, item int, count int)
    LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(0.004 + 0.005 * random());
    RETURN QUERY SELECT o.id, o.item, o.count FROM orders o WHERE o.buyer = who LIMIT 5;
END $$;
CREATE FUNCTION check_stock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(0.001 - 0.002 * ln(1 - random()));
    RETURN NEW;
END $$;
CREATE TRIGGER stock BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION check_stock();
"""

NGINX = """
daemon off;
user www-data;
worker_processes 1;
pid %(dir)s/nginx.pid;
error_log %(dir)s/nginx-error.log;
events { worker_connections 256; }
http {
    log_format lab '$remote_addr\\t$remote_port\\t$connection_requests\\t$request\\t$status\\t'
                   '$upstream_addr\\t$upstream_response_time\\t$msec';
    access_log %(dir)s/nginx.log lab;
    types { text/css css; application/javascript js; }
    upstream app { server %(app)s; keepalive 16; }
    server {
        listen %(listen)s;
        server_name shop.example;
        location /static/ { root %(dir)s/www; }
        location / {
            proxy_pass http://app;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }
    }
}
"""

STYLE = "".join(f".box-{n} {{ margin: {n}px; color: #{n * 1118481:06x}; }}\n" for n in range(15))
SCRIPT = "".join(f"export function part{n}(x) {{ return x * {n}; }}\n" for n in range(40))


def program(name):
    """Debian keeps PostgreSQL's programs out of PATH; the newest version is taken."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return found[-1] if found else None


def missing_tools():
    tools = ["ip", "ethtool", "tcpdump", "nginx", "redis-server", "memcached", "setpriv"]
    missing = [tool for tool in tools if not shutil.which(tool)]
    return missing + [name for name in ("initdb", "postgres") if not program(name)]


def _address(name):
    return "%s:%d" % places.address(name)


class Services:
    def __init__(self, network, directory):
        self._network, self._dir = network, directory

    def open(self):
        self._postgres()
        redis = ["redis-server", "--bind", places.HOSTS["redis"], "--save", "", "--dir", self._dir,
                 "--protected-mode", "no"]
        self._start("redis", redis)
        self._start("memcached", ["memcached", "-u", "nobody", "-l", places.HOSTS["memcached"]])
        self._nginx()

    def _start(self, name, command, **options):
        with open(f"{self._dir}/{name}.out", "wb") as out:
            return self._network.start(name, command, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=out, **options)

    def _postgres(self):
        user, password, _ = places.DATABASE
        data, secret = f"{self._dir}/db", f"{self._dir}/password"
        with open(secret, "w", encoding="utf-8") as out:
            out.write(password)
        os.mkdir(data, 0o700)
        shutil.chown(data, "postgres", "postgres")
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        subprocess.run([*as_postgres, program("initdb"), "-D", data, "-U", user, "-A", "scram-sha-256",
                        f"--pwfile={secret}", "-E", "UTF8", "--locale=C", "--no-sync"], check=True,
                       stdout=subprocess.DEVNULL, timeout=120, cwd="/")
        with open(f"{data}/pg_hba.conf", "a", encoding="utf-8") as out:
            out.write("host all all 0.0.0.0/0 scram-sha-256\n")
        self._fill(as_postgres, data)
        settings = [f"listen_addresses={places.HOSTS['db']}", "unix_socket_directories=",
                    "fsync=off"]
        self._start("db", [*as_postgres, program("postgres"), "-D", data,
                           *(word for s in settings for word in ("-c", s))], cwd="/")

    @staticmethod
    def _fill(as_postgres, data):
        """In single-user mode: no server, no socket. -j: a statement ends at an empty line."""
        single = [*as_postgres, program("postgres"), "--single", "-j", "-D", data]
        schema = SCHEMA % {"items": places.ITEMS}
        for database, sql in (("postgres", "CREATE DATABASE shop;"), (places.DATABASE[2], schema)):
            text = sql.replace(";\n", ";\n\n") if sql is not schema else _statements(sql)
            done = subprocess.run([*single, database], input=text + "\n\n", text=True, cwd="/",
                                  capture_output=True, timeout=60, check=True)
            if "ERROR" in done.stderr:
                raise RuntimeError(done.stderr)

    def _nginx(self):
        os.makedirs(f"{self._dir}/www/static")
        for name, text in (("style.css", STYLE), ("shop.js", SCRIPT)):
            with open(f"{self._dir}/www/static/{name}", "w", encoding="utf-8") as out:
                out.write(text)
        config = f"{self._dir}/nginx.conf"
        values = {"dir": self._dir, "app": _address("app1"), "listen": _address("nginx")}
        with open(config, "w", encoding="utf-8") as out:
            out.write(NGINX % values)
        self._start("nginx", ["nginx", "-c", config, "-e", f"{self._dir}/nginx-error.log"])


def _statements(sql):
    """An empty line after each statement; those inside $$ are left whole."""
    out, inside = [], False
    for line in sql.splitlines():
        inside ^= line.count("$$") % 2 == 1
        out.append(line)
        if line.endswith(";") and not inside:
            out.append("")
    return "\n".join(out)

