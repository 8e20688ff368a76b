"""Starts and ends brokers and PostgreSQL on the loopback interface, for tests. Every process is a child of this one.

    python3 .ci/uplink/brokers.py mosquitto|nats|rabbitmq FOLDER    starts it and PostgreSQL, prints the ports, ends both on Enter
"""

import glob
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

FILES = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Lab" / "Store" / "brokers"


def free_ports(count):
    """Ports of the loopback interface that are free now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


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


class Programs:
    """Child processes with names; they end with this object."""

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

    def __enter__(self):
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
        if self.prefix:
            shutil.chown(self.folder, "postgres")
        data = str(self.folder / "cluster")
        subprocess.run([*self.prefix, f"{self.bin}/initdb", "-D", data, "-A", "trust", "-U", "torpor", "--no-sync"],
                       check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
        self.address = f"host={self.folder} user=torpor dbname=torpor"
        self.restart()
        subprocess.run([f"{self.bin}/createdb", "-h", str(self.folder), "-U", "torpor", "torpor"], check=True)

    def restart(self):
        """Starts it; after a kill again and again, until the last process of the killed server has ended."""
        ready = [f"{self.bin}/pg_isready", "-q", "-h", str(self.folder)]

        def is_ready():
            process = self.running.get("postgres")
            if process is None or process.poll() is not None:
                self.start("postgres", [*self.prefix, f"{self.bin}/postgres", "-D", str(self.folder / "cluster"), "-k",
                                        str(self.folder), "-c", "listen_addresses="], cwd=self.folder)
            return subprocess.run(ready, check=False).returncode == 0
        wait_until(is_ready, "PostgreSQL starts")


class Mosquitto(Programs):
    """One node with TLS, certificates and access rules. Users: the names of the certificates."""

    nodes = ["mosquitto"]
    uses_tls = True

    def __init__(self, folder, devices):
        super().__init__(folder)
        (self.folder / "data").mkdir(exist_ok=True)
        shutil.copy(FILES / "mosquitto.acl", self.folder)
        self.ports = free_ports(1)
        self.users = {name: None for name in ["store", *devices]}
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

    def second(self, certificate):
        """Another node, with this certificate."""
        node = Programs(self.folder / f"with-{certificate}")
        (node.folder / "data").mkdir(exist_ok=True)
        node.port = free_ports(1)[0]
        text = filled("mosquitto.conf", PORT=node.port, FOLDER=self.folder).replace("broker.", f"{certificate}.")
        (node.folder / "mosquitto.conf").write_text(text.replace("persistence true", "persistence false"))
        if os.getuid() == 0:
            for path in [*self.folder.glob(f"{certificate}.*"), node.folder, *node.folder.rglob("*")]:
                shutil.chown(path, "mosquitto")
        node.start("mosquitto", ["/usr/sbin/mosquitto", "-c", str(node.folder / "mosquitto.conf")])
        wait_until(lambda: accepts(node.port), "mosquitto starts")
        return node


class NATS(Programs):
    """Three nodes with MQTT; sessions and retained messages on three."""

    nodes = ["n1", "n2", "n3"]
    uses_tls = False

    def __init__(self, folder, devices):
        super().__init__(folder)
        self.users = {name: f"password-of-{name}" for name in ["store", *devices]}
        self.ports = free_ports(9)
        clients, cluster = self.ports[3:6], self.ports[6:]
        boards = "".join(filled("nats-board.conf", DEVICE=name, PASSWORD=self.users[name]) for name in devices)
        for i, name in enumerate(self.nodes):
            routes = ", ".join(f'"nats-route://127.0.0.1:{port}"' for port in cluster)
            (self.folder / f"{name}.conf").write_text(filled(
                "nats.conf", NAME=name, CLIENTS=clients[i], CLUSTER=cluster[i], PORT=self.ports[i], ROUTES=routes,
                FOLDER=self.folder, STORE_PASSWORD=self.users["store"], BOARDS=boards))
            self.start(name, ["/usr/sbin/nats-server", "-c", str(self.folder / f"{name}.conf")])
        wait_until(lambda: all(accepts(port) for port in self.ports[:3]), "NATS starts")

    def restart(self, node):
        self.start(node, ["/usr/sbin/nats-server", "-c", str(self.folder / f"{node}.conf")])
        wait_until(lambda: accepts(self.ports[self.nodes.index(node)]), f"{node} starts")


class RabbitMQ(Programs):
    """Three nodes with MQTT and quorum queues."""

    nodes = ["r1", "r2", "r3"]
    uses_tls = False

    def __init__(self, folder, devices):
        super().__init__(folder)
        self.users = {name: f"password-of-{name}" for name in ["store", *devices]}
        self.ports = free_ports(9)
        self.mapper = free_ports(1)[0]  # of Erlang's node names
        names = "\n".join(f"cluster_formation.classic_config.nodes.{i + 1} = {self.node_name(name)}"
                          for i, name in enumerate(self.nodes))
        (self.folder / "plugins").write_text("[rabbitmq_mqtt].\n")
        (self.folder / "home").mkdir(exist_ok=True)
        cookie = self.folder / "home" / ".erlang.cookie"
        cookie.write_text("torpor-test")
        cookie.chmod(0o400)
        users = subprocess.run([str(FILES / "rabbitmq_users.py"), *(f"{name}={word}" for name, word in self.users.items())],
                               check=True, stdout=subprocess.PIPE).stdout
        (self.folder / "users.json").write_bytes(users)
        self.start("names", ["epmd", "-address", "127.0.0.1", "-port", str(self.mapper)], env=self.environment("r1"))
        wait_until(lambda: accepts(self.mapper), "Erlang's port mapper starts")
        for i, name in enumerate(self.nodes):
            (self.folder / f"{name}.conf").write_text(
                filled("rabbitmq.conf", PORT=self.ports[i], AMQP=self.ports[3 + i], NODES=names)
                + f"load_definitions = {self.folder}/users.json\n")
            self.launch(name)
        wait_until(lambda: all(accepts(port) for port in self.ports[:3]), "RabbitMQ starts", 180)

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

    def restart(self, node):
        self.launch(node)
        wait_until(lambda: accepts(self.ports[self.nodes.index(node)]), f"{node} starts", 120)


KINDS = {"mosquitto": Mosquitto, "nats": NATS, "rabbitmq": RabbitMQ}


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with KINDS[kind](folder / kind, ["board-1", "board-2"]) as broker, Postgres(folder / "postgres") as database:
        print(f"ports of MQTT: {broker.ports[:len(broker.nodes)]}\ndatabase: {database.address}\nEnter ends both.", flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
