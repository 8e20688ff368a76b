"""Programs of Debian and PyPI that use gpsd's protocol."""

import os
import re
import select
import socket
import subprocess
import threading
import time

from gpsd_clients.checks import Check, is_valid, objects, of_class, output, require


def gpspipe_json(server):
    text = output(["gpspipe", "-w", "-n", "9"])
    classes = [one["class"] for one in objects(text)]
    require(classes[:3] == ["VERSION", "DEVICES", "WATCH"], f"begins with {classes[:3]}")
    require(any(one.get("mode") == 3 and abs(one["lat"] - 48.1) < 0.1 for one in of_class(text, "TPV")), text[-500:])


def gpspipe_nmea(server):
    text = output(["gpspipe", "-r", "-n", "14"])
    sentences = [line.strip() for line in text.splitlines() if line.startswith("$")]
    require(sentences and all(map(is_valid, sentences)), text[-500:])
    require({"RMC", "GGA", "GSA"} <= {one[3:6] for one in sentences}, text[-500:])
    if not server.is_gpsd:
        require(not any("TPV" in line for line in text.splitlines()), "JSON among the sentences")


def gpspipe_pps(server):
    text = output(["gpspipe", "-w", "-P", "-n", "9"])
    require(of_class(text, "TPV"), text[-500:])
    require(of_class(text, "TOFF"), "no TOFF: " + text[-500:])


def _screen(name, command, seconds, pattern):
    """The screen of a program in tmux, as soon as it matches a pattern."""
    tmux = ["tmux", "-L", f"torpor-{os.getpid()}-{name}"]
    subprocess.run([*tmux, "new-session", "-d", "-x", "120", "-y", "40", command], check=True)
    end = time.monotonic() + seconds
    text = ""
    try:
        while time.monotonic() < end:
            shown = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False)
            text = shown.stdout or text
            if re.search(pattern, text):
                return
            time.sleep(0.3)
    finally:
        subprocess.run([*tmux, "kill-server"], capture_output=True, check=False)
    raise AssertionError(f"never shows {pattern}: {' '.join(text.split())[-400:]}")


def cgps(server):
    _screen("cgps", "cgps", 15, r"48\.1[\s\S]*3D")


def gpsmon(server):
    """Shows the receiver's sentences, which are requested by -n, and the position that it has decoded of them."""
    _screen("gpsmon", "gpsmon -n", 15, r"48[ :.]?[0-9][\s\S]*RMC|RMC[\s\S]*48[ :.]?[0-9]")


class _Recorder(threading.Thread):
    """Passes one connection on to the server, and records what both sides send."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.requests = b""
        self.answers = b""

    def run(self):
        client, _ = self.listener.accept()
        with client, socket.create_connection(("127.0.0.1", self.server.port)) as upstream:
            while True:
                for one in select.select([client, upstream], [], [])[0]:
                    try:
                        data = one.recv(65536)
                    except OSError:
                        return
                    if not data:
                        return
                    if one is client:
                        self.requests += data
                        upstream.sendall(data)
                    else:
                        self.answers += data
                        client.sendall(data)


def xgps(server):
    """Runs on without an error, and has requested and read fixes."""
    recorder = _Recorder(server)
    recorder.start()
    text = output(["xvfb-run", "-a", "xgps", f"127.0.0.1:{recorder.port}"], 10, ends=False)
    require("Traceback" not in text, text[-500:])
    require(b"?WATCH" in recorder.requests, f"requests {recorder.requests}")
    require(b'"mode":3' in recorder.answers and b'"class":"SKY"' in recorder.answers, f"{recorder.answers[-500:]}")


def gpxlogger(server):
    # It also ends after its interval, 5 s by default, without data: with 1 s, it would end at each late epoch.
    text = output(["gpxlogger", "-e", "sockets"], 8, ends=None)
    require(text.count("<trkpt") >= 3, text[-500:])


def gpscsv(server):
    text = output(["gpscsv", "-n", "3"])
    require("48.1" in text, text[-500:])


def gpsctl(server):
    text = output(["gpsctl"], 20)
    require(server.device in text, text[-500:])


def gpsprof(server):
    text = output(["gpsprof", "-n", "4", "-f", "space"], 20)
    require("48.1" in text, text[-500:])


def libgps(server):
    source = f"{server.folder}/libgps.c"
    with open(source, "w") as file:
        file.write(LIBGPS)
    subprocess.run(["cc", "-o", f"{server.folder}/libgps", source, "-lgps", "-lm"], check=True)
    text = output([f"{server.folder}/libgps"])
    require("mode 3 lat 48.1" in text, text[-500:])


LIBGPS = r"""
#include <gps.h>
#include <stdio.h>
int main(void) {
  struct gps_data_t data;
  if (gps_open("127.0.0.1", "2947", &data)) return 1;
  gps_stream(&data, WATCH_ENABLE | WATCH_JSON, NULL);
  for (int i = 0; i < 40; i++) {
    if (!gps_waiting(&data, 5000000)) return 2;
    if (gps_read(&data, NULL, 0) < 0) return 3;
    if (data.set & MODE_SET && data.fix.mode == 3) {
      printf("mode %d lat %.4f time %ld\n", data.fix.mode, data.fix.latitude, (long)data.fix.time.tv_sec);
      gps_stream(&data, WATCH_DISABLE, NULL);
      gps_close(&data);
      return 0;
    }
  }
  return 4;
}
"""


def python_gps(server):
    program = (
        "import gps\n"
        "session = gps.gps(mode=gps.WATCH_ENABLE)\n"
        "for i in range(20):\n"
        "    session.read()\n"
        "    if session.fix.mode == 3: print('lat', session.fix.latitude); break\n")
    text = output(["/usr/bin/python3", "-c", program])
    require("lat 48.1" in text, text[-500:])


def net_gpsd3(server):
    program = (
        "use Net::GPSD3; my $n = 0; my $g = Net::GPSD3->new;"
        "$g->addHandler(sub { my $o = shift; if ($o->class eq 'TPV') { print 'lat ', $o->lat, \"\\n\"; exit 0 } });"
        "$g->watch;")
    text = output(["perl", "-e", program], 25)
    require("lat 48.1" in text, text[-500:])


def direwolf(server):
    config = f"{server.folder}/direwolf.conf"
    with open(config, "w") as file:
        file.write("ADEVICE null null\nCHANNEL 0\nMYCALL N0CALL\nGPSD 127.0.0.1\n")
    text = output(["direwolf", "-t", "0", "-d", "gg", "-c", config], 10, ends=False, cwd=server.folder)
    require(re.search(r"48\.1", text), text[-500:])


def collectd(server):
    folder = server.folder + "/collectd"
    os.makedirs(folder)
    config = folder + "/collectd.conf"
    with open(config, "w") as file:
        file.write(
            f'BaseDir "{folder}"\nPIDFile "{folder}/pid"\nTypesDB "/usr/share/collectd/types.db"\nInterval 1\n'
            'LoadPlugin gps\nLoadPlugin csv\n<Plugin gps>\n Host "127.0.0.1"\n Port "2947"\n Timeout 1000\n'
            f' PauseConnect 2\n</Plugin>\n<Plugin csv>\n DataDir "{folder}/csv"\n</Plugin>\n')
    output(["collectd", "-f", "-C", config], 9, ends=False)
    found = [os.path.join(where, name) for where, _, names in os.walk(folder + "/csv") for name in names]
    require(any("satellites" in name or "dilution" in name for name in found), f"wrote {found}")


def gpsd_client(server):
    """gpsd itself as a client, with a program behind it."""
    port = "2999"
    log = open(server.folder + "/second.log", "wb")
    second = subprocess.Popen(
        ["gpsd", "-N", "-n", "-S", port, "gpsd://127.0.0.1:2947"], stdout=log, stderr=log,
        env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
    try:
        time.sleep(1)
        text = output(["gpspipe", "-w", "-n", "10", f"127.0.0.1:{port}"], 15)
        require(any(one.get("mode") == 3 for one in of_class(text, "TPV")), text[-500:])
    finally:
        second.terminate()
        second.wait()
        log.close()


def _pypi(server, program):
    return output([server.venv + "/bin/python", "-c", program], 20)


def gpsd_py3(server):
    text = _pypi(
        server,
        "import gpsd, time\n"
        "gpsd.connect()\n"
        "for i in range(12):\n"
        "    packet = gpsd.get_current()\n"
        "    if packet.mode >= 2: break\n"
        "    time.sleep(0.5)\n"
        "print('position', packet.position(), packet.sats, packet.get_time(), gpsd.device())\n")
    require("position (48.1" in text, text[-500:])


def gps3(server):
    """Keeps the first object of a read only, so that with gpsd it may never see a fix."""
    text = _pypi(
        server,
        "from gps3 import gps3\n"
        "socket, stream = gps3.GPSDSocket(), gps3.DataStream()\n"
        "socket.connect(); socket.watch()\n"
        "for data in socket:\n"
        "    if data:\n"
        "        stream.unpack(data)\n"
        "        if stream.TPV['lat'] != 'n/a': print('lat', stream.TPV['lat']); break\n")
    require("lat 48.1" in text, text[-500:])


def gpsdclient(server):
    text = _pypi(
        server,
        "from gpsdclient import GPSDClient\n"
        "with GPSDClient(host='127.0.0.1') as client:\n"
        "    for result in client.dict_stream(convert_datetime=True, filter=['TPV']):\n"
        "        if result.get('lat'): print('lat', result['lat'], result['time']); break\n")
    require("lat 48.1" in text, text[-500:])


CHECKS = [
    Check(gpspipe_json, ["gpspipe"]), Check(gpspipe_nmea, ["gpspipe"]), Check(gpspipe_pps, ["gpspipe"]),
    Check(cgps, ["cgps", "tmux"]), Check(gpsmon, ["gpsmon", "tmux"]),
    Check(xgps, ["xgps", "xvfb-run"]), Check(gpxlogger, ["gpxlogger"]), Check(gpscsv, ["gpscsv"]),
    Check(gpsctl, ["gpsctl"]), Check(gpsprof, ["gpsprof"]), Check(libgps, ["cc", "/usr/include/gps.h"]),
    Check(python_gps, ["/usr/lib/python3/dist-packages/gps"]),
    Check(net_gpsd3, ["/usr/share/perl5/Net/GPSD3.pm"]), Check(direwolf, ["direwolf"]),
    Check(collectd, ["/usr/sbin/collectd"]),
    Check(gpsd_client, ["/usr/sbin/gpsd", "gpspipe"], reference=False),
    Check(gpsd_py3, is_full=True), Check(gps3, is_full=True, reference=False), Check(gpsdclient, is_full=True),
]
