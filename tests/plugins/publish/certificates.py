"""Certificates of the tests, made by openssl in a folder of theirs."""
import shutil
import subprocess

import pytest

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


class Certificate:
    """A server's certificate by an issuer of its own. `host` is what it is for: IP:127.0.0.1, or DNS:NAME."""

    def __init__(self, folder, host="IP:127.0.0.1"):
        if shutil.which("openssl") is None:
            pytest.skip("needs openssl")
        folder.mkdir()
        self.folder, self.ca, self.certificate, self.key = folder, folder / "ca.pem", folder / "server.pem", folder / "server.key"
        self.openssl("req", "-x509", *KEY, "-days", "2", "-subj", "/CN=issuer of the tests", "-keyout", "ca.key", "-out", "ca.pem")
        self.openssl("req", *KEY, "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr")
        (folder / "names").write_text(f"subjectAltName={host}\n")
        self.openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                     "-extfile", "names", "-out", "server.pem")

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)
