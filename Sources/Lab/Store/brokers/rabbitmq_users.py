#!/usr/bin/env python3
"""Prints the access rules of RabbitMQ for a store and boards, as definitions that RabbitMQ loads.

    rabbitmq_users.py store=PASSWORD board-1=PASSWORD board-2=PASSWORD > users.json
    rabbitmqctl import_definitions users.json          or load_definitions in rabbitmq.conf

The queues of a session have the name of its client id. A board's client id is its device name, that of the store begins with
torpor-store: a board cannot read or delete the queues of another session.
"""

import base64
import hashlib
import json
import os
import sys


def hashed(password):
    salt = os.urandom(4)
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()


def definitions(passwords):
    """The definitions for a dictionary from the users' names to passwords."""
    found = {"vhosts": [{"name": "/"}], "users": [], "permissions": [], "topic_permissions": []}
    for name, password in passwords.items():
        if name == "store":
            identity, write, read = "torpor-store[A-Za-z0-9-]*", r"^torpor\.[A-Za-z0-9_-]+\.receipt$", r"^torpor\.\*\.(fixes|gap|event|check)$"
        else:
            announcement = rf"homeassistant\.device_tracker\.torpor\.{name}\.config"
            identity, write, read = name, rf"^(torpor\.{name}\.(fixes|gap|event|newest|check)|{announcement})$", rf"^torpor\.{name}\.receipt$"
        queue = f"mqtt-subscription-{identity}qos[01]"
        use = rf"^(amq\.topic|{queue})$"
        found["users"].append({"name": name, "password_hash": hashed(password), "tags": "",
                               "hashing_algorithm": "rabbit_password_hashing_sha256"})
        found["permissions"].append({"user": name, "vhost": "/", "configure": f"^{queue}$", "write": use, "read": use})
        found["topic_permissions"].append({"user": name, "vhost": "/", "exchange": "amq.topic", "write": write, "read": read})
    return found


if __name__ == "__main__":
    print(json.dumps(definitions(dict(word.split("=", 1) for word in sys.argv[1:])), indent=1))
