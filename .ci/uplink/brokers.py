"""Starts and ends brokers and PostgreSQL on the loopback interface, for tests. Every process is a child of this one.

    python3 .ci/uplink/brokers.py mosquitto|nats|rabbitmq FOLDER    starts it and PostgreSQL, prints the ports, ends both on Enter
"""

import glob
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

FILES = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Lab" / "Store" / "brokers"


def free_ports(count):
    """Ports of the loopback interface that are free now, and that the kernel gives to no connection meanwhile."""
    found = []
    while len(found) < count:
        port = random.randrange(10_240, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def accepts(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def filled(name, **values):
    text = (FILES / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def end_on_signals():
    """SIGTERM and SIGHUP end the program like an exception, so that its children end too."""
    def stop(number, _):
        sys.exit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


class Programs:
    """Child processes with names; they end with this object, also if its start fails."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.running = {}

    def start(self, name, command, **options):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **options)

    def kill(self, name, number=signal.SIGKILL):
        """Ends a program and its children."""
        process = self.running.pop(name, None)
        if process and process.poll() is None:
            os.killpg(process.pid, number)
            process.wait(60)

    def begin(self):
        """Starts what a subclass consists of."""

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in list(self.running):
            self.kill(name)


class Postgres(Programs):
    """A cluster of PostgreSQL on a socket in the folder."""

    def __init__(self, folder):
        super().__init__(folder)
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        # PostgreSQL refuses to run as root.
        self.prefix = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        self.address = f"host={self.folder} user=torpor dbname=torpor"

    def begin(self):
        if self.prefix:
            shutil.chown(self.folder, "postgres")
        data = str(self.folder / "cluster")
        subprocess.run([*self.prefix, f"{self.bin}/initdb", "-D", data, "-A", "trust", "-U", "torpor", "--no-sync"],
                       check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
        self.restart()
        subprocess.run([f"{self.bin}/createdb", "-h", str(self.folder), "-U", "torpor", "torpor"], check=True)

    def restart(self):
        """Starts it; after a kill again and again, until the last process of the killed server has ended."""
        ready = [f"{self.bin}/pg_isready", "-q", "-h", str(self.folder)]

        def is_ready():
            process = self.running.get("postgres")
            if process is None or process.poll() is not None:
                self.start("postgres", [*self.prefix, f"{self.bin}/postgres", "-D", str(self.folder / "cluster"), "-k",
                                        str(self.folder), "-c", "listen_addresses=", "-c", "autovacuum=off"], cwd=self.folder)
            return subprocess.run(ready, check=False).returncode == 0
        wait_until(is_ready, "PostgreSQL starts")


class Mosquitto(Programs):
    """One node with TLS, certificates and access rules. Users: the names of the certificates."""

    nodes = ["mosquitto"]
    uses_tls = True

    def __init__(self, folder, devices):
        super().__init__(folder)
        self.ports = free_ports(1)
        self.users = {name: None for name in ["store", "auditor", "silent", *devices]}

    def begin(self):
        (self.folder / "data").mkdir(exist_ok=True)
        rules = (FILES / "mosquitto.acl").read_text(encoding="utf-8")
        (self.folder / "mosquitto.acl").write_text(
            rules + "\nuser auditor\ntopic read torpor/#\ntopic read homeassistant/#\n\nuser silent\n"
            + "".join(f"topic deny torpor/silent/{kind}\n" for kind in ("fixes", "gap", "event", "newest", "check")))
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                     "-subj", "/CN=Torpor test", "-keyout", "ca.key", "-out", "ca.crt")
        self.certify("broker", "localhost", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        for name in self.users:
            self.certify(name, name, "extendedKeyUsage=clientAuth")
        (self.folder / "mosquitto.conf").write_text(filled("mosquitto.conf", PORT=self.ports[0], FOLDER=self.folder))
        if os.getuid() == 0:
            # It gives up root and then reads and writes these files.
            for path in [self.folder, *self.folder.rglob("*")]:
                shutil.chown(path, "mosquitto")
        self.restart("mosquitto")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=self.folder, stderr=subprocess.DEVNULL)

    def certify(self, file, name, extension, days=2):
        """A key and a certificate of the test's authority, valid for two days; with 0 days it has expired."""
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", f"{file}.key", "-out", f"{file}.csr")
        (self.folder / f"{file}.ext").write_text(extension + "\n")
        self.openssl("x509", "-req", "-in", f"{file}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                     "-days", str(days), "-extfile", f"{file}.ext", "-out", f"{file}.crt")

    def restart(self, node):
        self.start(node, ["/usr/sbin/mosquitto", "-c", str(self.folder / "mosquitto.conf")])
        wait_until(lambda: accepts(self.ports[0]), "mosquitto starts")


class SecondMosquitto(Programs):
    """Another node, with another certificate of the first one's folder."""

    def __init__(self, first, certificate):
        super().__init__(first.folder / f"with-{certificate}")
        self.first, self.certificate = first, certificate
        self.port = free_ports(1)[0]

    def begin(self):
        (self.folder / "data").mkdir(exist_ok=True)
        text = filled("mosquitto.conf", PORT=self.port, FOLDER=self.first.folder).replace("broker.", f"{self.certificate}.")
        (self.folder / "mosquitto.conf").write_text(text.replace("persistence true", "persistence false"))
        if os.getuid() == 0:
            for path in [*self.first.folder.glob(f"{self.certificate}.*"), self.folder, *self.folder.rglob("*")]:
                shutil.chown(path, "mosquitto")
        self.start("mosquitto", ["/usr/sbin/mosquitto", "-c", str(self.folder / "mosquitto.conf")])
        wait_until(lambda: accepts(self.port), "mosquitto starts")


class NATS(Programs):
    """Three nodes with MQTT; sessions and retained messages on three."""

    nodes = ["n1", "n2", "n3"]
    uses_tls = False
    # Users of the tests: one reads everything, one may only read its receipts.
    extra = """
    { user: "auditor", password: "@auditor@", allowed_connection_types: ["MQTT"]
      permissions { subscribe: ["torpor", "torpor.>", "homeassistant", "homeassistant.>", "$MQTT.sub.>"], publish: { deny: ">" } } }
    { user: "silent", password: "@silent@", allowed_connection_types: ["MQTT"]
      permissions { subscribe: ["torpor.silent.receipt", "$MQTT.sub.>"], publish: { deny: ">" } } }
    """

    def __init__(self, folder, devices):
        super().__init__(folder)
        self.devices = devices
        self.users = {name: f"password-of-{name}" for name in ["store", "auditor", "silent", *devices]}
        self.ports = free_ports(9)

    def begin(self):
        clients, cluster = self.ports[3:6], self.ports[6:]
        boards = "".join(filled("nats-board.conf", DEVICE=name, PASSWORD=self.users[name]) for name in self.devices)
        extra = self.extra.replace("@auditor@", self.users["auditor"]).replace("@silent@", self.users["silent"])
        for i, name in enumerate(self.nodes):
            routes = ", ".join(f'"nats-route://127.0.0.1:{port}"' for port in cluster)
            (self.folder / f"{name}.conf").write_text(filled(
                "nats.conf", NAME=name, CLIENTS=clients[i], CLUSTER=cluster[i], PORT=self.ports[i], ROUTES=routes,
                FOLDER=self.folder, STORE_PASSWORD=self.users["store"], BOARDS=boards + extra))
            self.start(name, ["/usr/sbin/nats-server", "-c", str(self.folder / f"{name}.conf")])
        wait_until(lambda: all(accepts(port) for port in self.ports[:3]), "NATS starts")

    def restart(self, *nodes):
        for node in nodes:
            self.start(node, ["/usr/sbin/nats-server", "-c", str(self.folder / f"{node}.conf")])
        for node in nodes:
            wait_until(lambda node=node: accepts(self.ports[self.nodes.index(node)]), f"{node} starts")

    def restore(self):
        """Starts the nodes again that do not run, after the loss of the majority."""
        self.restart(*(node for node in self.nodes if node not in self.running))


class RabbitMQ(Programs):
    """Three nodes with MQTT and quorum queues."""

    nodes = ["r1", "r2", "r3"]
    uses_tls = False

    def __init__(self, folder, devices):
        super().__init__(folder)
        self.users = {name: f"password-of-{name}" for name in ["store", "auditor", "silent", *devices]}
        *self.ports, self.mapper = free_ports(10)  # the last one is of Erlang's node names

    def begin(self):
        names = "\n".join(f"cluster_formation.classic_config.nodes.{i + 1} = {self.node_name(name)}"
                          for i, name in enumerate(self.nodes))
        (self.folder / "plugins").write_text("[rabbitmq_mqtt].\n")
        (self.folder / "home").mkdir(exist_ok=True)
        cookie = self.folder / "home" / ".erlang.cookie"
        cookie.write_text("torpor-test")
        cookie.chmod(0o400)
        users = subprocess.run([str(FILES / "rabbitmq_users.py"), *(f"{name}={word}" for name, word in self.users.items())],
                               check=True, stdout=subprocess.PIPE).stdout
        (self.folder / "users.json").write_text(json.dumps(self.extended(json.loads(users))))
        self.start("names", ["epmd", "-address", "127.0.0.1", "-port", str(self.mapper)], env=self.environment("r1"))
        wait_until(lambda: accepts(self.mapper), "Erlang's port mapper starts")
        for i, name in enumerate(self.nodes):
            (self.folder / f"{name}.conf").write_text(
                filled("rabbitmq.conf", PORT=self.ports[i], AMQP=self.ports[3 + i], NODES=names)
                + f"load_definitions = {self.folder}/users.json\n")
            self.launch(name)
        wait_until(lambda: all(accepts(port) for port in self.ports[:3]), "RabbitMQ starts", 180)

    @staticmethod
    def extended(definitions):
        """The definitions with users of the tests: one reads everything, one may only read its receipts."""
        for rule in definitions["permissions"]:
            if rule["user"] == "auditor":
                rule |= {name: r"^(amq\.topic|mqtt-subscription-auditor.*)$" for name in ("configure", "write", "read")}
        for rule in definitions["topic_permissions"]:
            if rule["user"] in ("auditor", "silent"):
                rule["write"] = "^$"
            if rule["user"] == "auditor":
                rule["read"] = ".*"
        return definitions

    def node_name(self, node):
        return f"torpor-{node}@localhost"

    def environment(self, node):
        i = self.nodes.index(node)
        return os.environ | {
            "HOME": str(self.folder / "home"), "RABBITMQ_NODENAME": self.node_name(node), "RABBITMQ_CONFIG_FILE": str(self.folder / node),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "data"), "RABBITMQ_LOG_BASE": str(self.folder / "logs"), "RABBITMQ_LOGS": "-",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"), "RABBITMQ_DIST_PORT": str(self.ports[6 + i]),
            "RABBITMQ_PID_FILE": str(self.folder / f"{node}.pid"), "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none",
            "ERL_EPMD_PORT": str(self.mapper), "ERL_EPMD_ADDRESS": "127.0.0.1"}

    def launch(self, node):
        self.start(node, ["/usr/lib/rabbitmq/bin/rabbitmq-server"], env=self.environment(node))

    def restart(self, *nodes):
        for node in nodes:
            self.launch(node)
        for node in nodes:
            wait_until(lambda node=node: accepts(self.ports[self.nodes.index(node)]), f"{node} starts", 180)

    def restore(self):
        """Starts all nodes again: 3.10 does not open the port of MQTT on the others before the last one has restarted too."""
        for node in self.nodes:
            self.kill(node)
        self.restart(*self.nodes)


KINDS = {"mosquitto": Mosquitto, "nats": NATS, "rabbitmq": RabbitMQ}


def main():
    end_on_signals()
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with KINDS[kind](folder / kind, ["board-1", "board-2"]) as broker, Postgres(folder / "postgres") as database:
        print(f"ports of MQTT: {broker.ports[:len(broker.nodes)]}\ndatabase: {database.address}\nEnter ends both.", flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
