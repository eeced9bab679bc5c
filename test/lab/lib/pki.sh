# shellcheck shell=bash
# Certificates and kubeconfigs. All functions work in the current directory. Also used by test/harness/pki.ts.
# Elliptic keys, because openssl needs a quarter of a second for an RSA key, and a lab has a dozen keys.

# openssl's own default configuration would add CA extensions to every certificate.
openssl_request() {
  openssl req -config <(printf '[req]\ndistinguished_name = dn\n[dn]\n') -x509 -days 365 -nodes \
    -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "$@" 2>openssl.log || { cat openssl.log >&2 && return 1; }
  rm -f openssl.log
}

pki_ca() {
  openssl_request -subj /CN=lab-ca -keyout ca.key -out ca.crt \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,digitalSignature
}

# The key that signs service account tokens.
pki_service_account_key() {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out sa.key 2>/dev/null
  openssl pkey -in sa.key -pubout -out sa.pub
}

# A certificate for both ends of TLS. The subject is the Kubernetes user: CN is the name, O the groups.
pki_certificate() { # name subject [subjectAltName]
  openssl_request -CA ca.crt -CAkey ca.key -subj "$2" -keyout "$1.key" -out "$1.crt" \
    -addext basicConstraints=critical,CA:FALSE -addext "subjectAltName=${3:-DNS:$1}" \
    -addext extendedKeyUsage=serverAuth,clientAuth
}

# Writes NAME.conf for the user whose certificate is NAME.crt; it embeds the certificates, so the file can be moved.
pki_kubeconfig() { # name url
  cat >"$1.conf" <<YAML
apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster: {server: "$2", certificate-authority-data: $(base64 -w0 ca.crt)}
users:
- name: $1
  user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}
contexts:
- name: lab
  context: {cluster: lab, user: $1}
YAML
  chmod 600 "$1.conf"
}
