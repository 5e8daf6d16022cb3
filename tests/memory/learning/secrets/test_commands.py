"""What is handed to a program as a credential goes, and what only looks like it stays."""

from __future__ import annotations

import json

import pytest

from memory.learning.redact import Redacted, redact

SECRET = "swordfish9"

CARRIED = [
    "curl -u alice:{} https://x.example",
    "curl -s -u 'alice:{}' https://x.example",
    "curl -sSLu alice:{} https://x.example",
    "curl -ualice:{} https://x.example",
    "curl --user=alice:{} https://x.example",
    "curl --proxy-user bob:{} -x proxy:8080 https://x.example",
    "curl \\\n  -u bob:{} \\\n  https://x.example",
    "http --auth alice:{} GET https://x.example",
    "http -a alice:{} GET https://x.example",
    "wget --user=bob --password={} https://x.example",
    "lftp -u bob,{} ftp.example.org",
    "mysql -u root -p{} shop",
    "mysql -uroot -p'{}' shop",
    "sudo /usr/bin/mysqldump --password={} shop",
    "PGPASSWORD={} psql -h db",
    "cd /srv && PGPASSWORD='{}' psql -h db",
    "MYSQL_PWD={} mysqldump x",
    "REDISCLI_AUTH={} redis-cli ping",
    "redis-cli -h cache -p 6379 -a '{}' flushall",
    "mongosh -u root -p {} --host x",
    "sqlcmd -S srv -U sa -P {} -Q 'select 1'",
    "docker login -u bob -p {} reg.example.org",
    "docker login reg.example.org --username bob --password {}",
    "helm registry login -u bob -p {} reg.example.org",
    "docker run -e MYSQL_ROOT_PASSWORD={} -p 3306:3306 mysql:8",
    "sshpass -p {} ssh root@x",
    "sshpass -p{} mysql -u root",
    "psexec \\\\10.0.0.7 -u Administrator -p {} cmd",
    "plink -pw {} root@x",
    "smbclient //srv/share -U bob%{}",
    "ldapsearch -x -D cn=admin -w {} -b dc=x",
    "xfreerdp /u:bob /p:{} /v:x",
    "vault login {}",
    "vault login -method=userpass username=bob password={}",
    "oc login -u bob -p {} https://x.example",
    "openssl rsa -in k.pem -passin pass:{} -out x",
    "zip -P {} a.zip b",
    "7z x -p{} a.7z",
    "gpg --batch --passphrase {} -d x.gpg",
    "htpasswd -nbB admin {}",
    "echo 'bob:{}' | sudo chpasswd",
    "echo {} | docker login -u bob --password-stdin",
    "rabbitmqctl add_user bob {}",
    "kubectl create secret generic x --from-literal=password={}",
    "cargo login {}",
    "Run `docker login -p {}` first.",
]


@pytest.mark.parametrize("command", CARRIED)
def test_what_a_flag_carries_goes_and_the_rest_stays(command: str) -> None:
    before, after = command.split("{}")
    text = redact(command.format(SECRET)).text
    assert SECRET not in text
    assert text.startswith(before) and text.endswith(after)


@pytest.mark.parametrize("command", CARRIED)
def test_it_goes_where_the_command_stands_in_json(command: str) -> None:
    text = redact(json.dumps({"command": f"cd /srv\n{command.format(SECRET)}\nls -l", "description": "x"})).text
    told = json.loads(text)
    assert SECRET not in text
    assert told["description"] == "x" and told["command"].endswith("\nls -l")


@pytest.mark.parametrize(
    "arguments",
    [
        ["mysql", f"-p{SECRET}", "-u", "root"],
        ["sshpass", "-p", SECRET, "ssh", "x"],
        ["curl", "-u", f"a:{SECRET}"],
    ],
)
def test_it_goes_where_the_command_is_a_list_of_arguments(arguments: list[str]) -> None:
    for text in (json.dumps({"argv": arguments}), f"subprocess.run({arguments})"):
        assert SECRET not in redact(text).text


@pytest.mark.parametrize("command", CARRIED)
def test_a_variable_in_its_place_stays(command: str) -> None:
    text = command.format("$SECRET")
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "curl -u alice https://x.example",
        'curl -u "$(id -u):$(id -g)" x',
        "curl -A Mozilla:5.0 --user-agent Mozilla:5.0 -o out:file https://x.example",
        "docker run -u 1000:1000 -p 8080:80 nginx",
        "docker run --name mysql -p 3306:3306 -e TZ=Europe/Paris mysql:8",
        "docker compose -p shop up -d",
        "docker login, and then docker push -p quickly",
        "ssh -p 2222 bob@host",
        "mysql -u root -p shop",
        "mysql -P 3306 -h 127.0.0.1 shop",
        "mkdir -p mysql/data && cp -a x y",
        "chown -R mysql:mysql /var/lib/mysql",
        "sudo -u postgres psql -p 5432",
        "git commit -a -m 'use redis-cli'",
        "python -m pytest -p no:cacheprovider",
        "vault login -method=oidc role=dev",
        "gh auth login --with-token < token.txt",
        "docker login -u bob --password-stdin < token.txt",
        "zip -r a.zip b; tar -P -xf x; 7z x a.7z -oout",
        "openssl rsa -in key.pem -passin env:PASS",
        "sshpass -f pass.txt ssh root@x",
        "`mysql -p` asks for it",
        "htpasswd -c /etc/nginx/users bob",
        "gpg --passphrase-file x -d y",
        "echo alice:admin | cut -d: -f2",
        "net user; net use",
    ],
)
def test_a_flag_that_means_something_else_takes_nothing(text: str) -> None:
    assert redact(text) == Redacted(text)
