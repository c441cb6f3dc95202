"""Certificates for a server on this machine."""

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)


def write_certificates(folder: Path) -> Path:
    """Write `server.pem`, the key and the certificate of 127.0.0.1, into `folder`.

    Returns the path of the certificate of its issuer.
    """
    issuer_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer, server = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each)]) for each in ("issuer", "server")
    )
    root = (
        _unsigned(issuer, issuer, issuer_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(issuer_key, hashes.SHA256())
    )
    loopback = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = _unsigned(server, issuer, server_key).add_extension(loopback, critical=False)
    certificate = signed.sign(issuer_key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    key = server_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(key + certificate.public_bytes(pem) + root.public_bytes(pem))
    path = folder / "issuer.pem"
    path.write_bytes(root.public_bytes(pem))
    return path


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    return (
        builder.serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
    )
