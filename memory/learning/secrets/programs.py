"""Which words of which commands carry a credential. Facts only, as the programs' own manuals document them.

A flag means what its program says: `-p` is a password to `docker login`, a port to `ssh`, a database to `mysql` where a
blank follows it and a password where none does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What carries a credential in the commands of some programs, each a list of words parted by blanks.

    ``after``: only where this word stands behind the program. ``next``: flags whose next word is it, or what stands
    behind their ``=``. ``attached``: flags that it is attached to. ``split``: flags whose next word holds it behind
    ``sign``; behind ``=`` only where the name before it says so. ``keys``: what a word of its own begins with.
    ``place``: which of the words that are no flags is it, counted from 1, or, with -1, the last one, and then only
    where one of the flags has the letter ``letter``.
    """

    programs: str
    after: str = ""
    next: str = ""
    attached: str = ""
    split: str = ""
    sign: str = ":"
    keys: str = ""
    place: int = 0
    letter: str = ""


ROWS = (
    # Web
    Row("curl", next="--oauth2-bearer --pass --proxy-pass", split="-u --user -U --proxy-user"),
    Row("http https xh xhs httpie", split="-a --auth"),
    Row("wget aria2c", next="--password --http-password --http-passwd --ftp-password"),
    Row("lftp", split="-u --user", sign=","),
    # Databases
    Row(
        "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlpump mysqlslap mysqlsh mycli mariadb "
        "mariadb-dump mariadb-admin mariadb-import mariadb-check",
        attached="-p",
        next="--password",
    ),
    Row("mongo mongosh mongodump mongorestore mongoexport mongoimport", next="-p --password", attached="-p"),
    Row("clickhouse-client pgcli", next="--password"),
    Row("redis-cli valkey-cli keydb-cli", next="-a --pass"),
    Row("sqlcmd bcp tsql sqsh", next="-P", attached="-P"),
    Row("sqlplus impdp expdp sqlldr", place=1, sign="/"),
    Row("cqlsh beeline influx", next="-p --password -password"),
    # Directories, remote machines, shares
    Row("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare", next="-w"),
    Row("sshpass", next="-p", attached="-p"),
    Row("plink pscp psftp putty", next="-pw"),
    Row("smbclient smbmap rpcclient", split="-U --user", sign="%"),
    Row("psexec winrs rdesktop evil-winrm ncftp", next="-p", attached="-p: /p:"),
    Row("xfreerdp wlfreerdp", attached="/p:"),
    Row("ipmitool mosquitto_pub mosquitto_sub", next="-P", attached="-P"),
    Row("net", after="user", place=2),
    # Logins
    Row("docker podman nerdctl buildah skopeo oras", after="login", next="-p --password", attached="-p"),
    Row("helm", after="registry", next="-p --password"),
    Row("az oc cf argocd", after="login", next="-p --password --token"),
    Row("twine", after="upload", next="-p --password"),
    Row("vault", after="login", place=1, keys="token= password="),
    Row("vault", after="unwrap", place=1),
    Row("consul nomad", next="-token --token"),
    Row("cargo", after="login", place=1),
    Row("snyk", after="auth", place=1),
    Row("ngrok", after="authtoken", place=1),
    Row("ngrok", after="config", place=2),
    Row("tailscale", after="up", next="--authkey --auth-key"),
    Row("rabbitmqctl", after="add_user", place=2),
    Row("rabbitmqctl", after="change_password", place=2),
    Row("rabbitmqadmin", next="-p --password"),
    # Keys and archives
    Row("openssl", next="-k", split="-passin -passout -pass"),
    Row("gpg gpg2", next="--passphrase"),
    Row("keytool jarsigner", next="-storepass -keypass -srcstorepass -deststorepass"),
    Row("htpasswd", place=-1, letter="b"),
    Row("zip unzip zipcloak", next="-P --password"),
    Row("7z 7za 7zr rar unrar", attached="-p -hp"),
    # Surroundings that are handed on
    Row("docker podman nerdctl", split="-e --env --build-arg", sign="="),
    Row("kubectl oc", split="--from-literal", sign="=", next="--token --password --docker-password"),
    Row("helm", split="--set --set-string", sign="="),
)
