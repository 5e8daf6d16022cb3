"""Which words of which commands carry a credential. Facts only, as the programs' own manuals document them.

A flag means what its program says: `-p` is a password to `docker login`, a port to `ssh`, a database to `mysql` where a
blank follows it and a password where none does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CredentialFlags:
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
    CredentialFlags("curl", next="--oauth2-bearer --pass --proxy-pass", split="-u --user -U --proxy-user"),
    CredentialFlags("http https xh xhs httpie", split="-a --auth"),
    CredentialFlags("wget aria2c", next="--password --http-password --http-passwd --ftp-password"),
    CredentialFlags("lftp", split="-u --user", sign=","),
    # Databases
    CredentialFlags(
        "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlpump mysqlslap mysqlsh mycli mariadb "
        "mariadb-dump mariadb-admin mariadb-import mariadb-check",
        attached="-p",
        next="--password",
    ),
    CredentialFlags(
        "mongo mongosh mongodump mongorestore mongoexport mongoimport", next="-p --password", attached="-p"
    ),
    CredentialFlags("clickhouse-client pgcli", next="--password"),
    CredentialFlags("redis-cli valkey-cli keydb-cli", next="-a --pass"),
    CredentialFlags("sqlcmd bcp tsql sqsh", next="-P", attached="-P"),
    CredentialFlags("sqlplus impdp expdp sqlldr", place=1, sign="/"),
    CredentialFlags("cqlsh beeline influx", next="-p --password -password"),
    # Directories, remote machines, shares
    CredentialFlags("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare", next="-w"),
    CredentialFlags("sshpass", next="-p", attached="-p"),
    CredentialFlags("plink pscp psftp putty", next="-pw"),
    CredentialFlags("smbclient smbmap rpcclient", split="-U --user", sign="%"),
    CredentialFlags("psexec winrs rdesktop evil-winrm ncftp", next="-p", attached="-p: /p:"),
    CredentialFlags("xfreerdp wlfreerdp", attached="/p:"),
    CredentialFlags("ipmitool mosquitto_pub mosquitto_sub", next="-P", attached="-P"),
    CredentialFlags("net", after="user", place=2),
    # Logins
    CredentialFlags("docker podman nerdctl buildah skopeo oras", after="login", next="-p --password", attached="-p"),
    CredentialFlags("helm", after="registry", next="-p --password"),
    CredentialFlags("az oc cf argocd", after="login", next="-p --password --token"),
    CredentialFlags("twine", after="upload", next="-p --password"),
    CredentialFlags("vault", after="login", place=1, keys="token= password="),
    CredentialFlags("vault", after="unwrap", place=1),
    CredentialFlags("consul nomad", next="-token --token"),
    CredentialFlags("cargo", after="login", place=1),
    CredentialFlags("snyk", after="auth", place=1),
    CredentialFlags("ngrok", after="authtoken", place=1),
    CredentialFlags("ngrok", after="config", place=2),
    CredentialFlags("tailscale", after="up", next="--authkey --auth-key"),
    CredentialFlags("rabbitmqctl", after="add_user", place=2),
    CredentialFlags("rabbitmqctl", after="change_password", place=2),
    CredentialFlags("rabbitmqadmin", next="-p --password"),
    # Keys and archives
    CredentialFlags("openssl", next="-k", split="-passin -passout -pass"),
    CredentialFlags("gpg gpg2", next="--passphrase"),
    CredentialFlags("keytool jarsigner", next="-storepass -keypass -srcstorepass -deststorepass"),
    CredentialFlags("htpasswd", place=-1, letter="b"),
    CredentialFlags("zip unzip zipcloak", next="-P --password"),
    CredentialFlags("7z 7za 7zr rar unrar", attached="-p -hp"),
    # Surroundings that are handed on
    CredentialFlags("docker podman nerdctl", split="-e --env --build-arg", sign="="),
    CredentialFlags("kubectl oc", split="--from-literal", sign="=", next="--token --password --docker-password"),
    CredentialFlags("helm", split="--set --set-string", sign="="),
)
