"""Tests `torpor-uplink --check` with an HTTPS server: `test_http.py FOLDER PROGRAMS`. Needs root, to replace the system's
authorities for the program alone."""

import http.server
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import threading

failures = []


class Server(http.server.BaseHTTPRequestHandler):
    """Accepts each batch."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_batch = self.headers["Content-Encoding"] is None and json.loads(body) == {"locations": []}
        answer = b'{"result":"ok"}' if is_batch else b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Authority:
    """An authority for certificates, in a folder."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.openssl("req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")

    def openssl(self, command, *arguments):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if command == "req" else []
        subprocess.run(["openssl", command, *key, *arguments], check=True, cwd=self.folder, stderr=subprocess.DEVNULL)

    def certify(self, file):
        self.openssl("req", "-nodes", "-subj", "/CN=localhost", "-keyout", f"{file}.key", "-out", f"{file}.csr")
        (self.folder / f"{file}.ext").write_text("subjectAltName=DNS:localhost\n")
        self.openssl("x509", "-req", "-in", f"{file}.csr", "-CA", f"{self.name}.crt", "-CAkey", f"{self.name}.key",
                     "-CAcreateserial", "-days", "2", "-extfile", f"{file}.ext", "-out", f"{file}.crt")


def check(folder, program, port, authority):
    """The exit code and the output of a check. The only authority of the system is `known`."""
    settings = folder / "uplink.toml"
    settings.write_text(f"device = 'board-1'\n[[destination]]\nurl = 'https://localhost:{port}/secret'\n"
                        + (f"ca = '{folder / authority}.crt'\n" if authority else ""))
    command = f"mount --bind {folder / 'system'} /etc/ssl/certs && exec {program} --check --config {settings}"
    done = subprocess.run(["unshare", "-m", "sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.decode()


def expect(holds, what, output):
    print(f"{'passed' if holds else 'FAILED'}  {what}" + ("" if holds else f": {output}"), flush=True)
    if not holds:
        failures.append(what)


def main():
    folder, program = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "torpor-uplink"
    system = folder / "system"
    system.mkdir()
    for path in (folder, system):
        path.chmod(0o755)
    Authority(folder, "known").certify("server")
    Authority(folder, "other")
    shutil.copy(folder / "known.crt", system)
    subprocess.run(["openssl", "rehash", system], check=True)
    shutil.copy(folder / "known.crt", system / "ca-certificates.crt")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    for authority, what in ((None, "an authority of the system is accepted"), ("known", "the authority of `ca` is accepted")):
        code, output = check(folder, program, port, authority)
        expect(code == 0 and output == f"https://localhost:{port}: the server answers\n", what, output)
    code, output = check(folder, program, port, "other")
    expect(code == 69 and "certificate" in output and "secret" not in output,
           "with `ca`, an authority of the system is refused", output)
    server.shutdown()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
