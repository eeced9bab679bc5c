import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key and its certificate, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** A certificate authority made for one test. */
export interface Authority extends KeyPair {
  /**
   * A certificate for 127.0.0.1 and localhost, or for a client of that name.
   *
   * @param days until it ends, by default 2; -1 for one that ended yesterday
   */
  issue(commonName: string, days?: number): KeyPair;
}

/** Makes a certificate authority with openssl in a temporary directory, which is gone when this returns. */
export function createAuthority(commonName: string): Authority {
  const ca = inTemporaryDirectory((run, read) => {
    run(
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${commonName} -keyout k -out c`,
    );
    return { cert: read('c'), key: read('k') };
  });
  return { ...ca, issue: (name, days = 2) => issue(ca, name, days) };
}

function issue(ca: KeyPair, commonName: string, days: number): KeyPair {
  return inTemporaryDirectory((run, read, write) => {
    write('ca.crt', ca.cert);
    write('ca.key', ca.key);
    write('extensions', 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
    run(`req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=${commonName} -keyout k -out csr`);
    run(`x509 -req -in csr -CA ca.crt -CAkey ca.key -CAcreateserial -days ${days} -extfile extensions -out c`);
    return { cert: read('c'), key: read('k') };
  });
}

type Run = (command: string) => void;
type Read = (name: string) => string;
type Write = (name: string, text: string) => void;

function inTemporaryDirectory<T>(work: (run: Run, read: Read, write: Write) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  try {
    return work(
      (command) => execFileSync('openssl', command.split(' '), { cwd: directory, stdio: 'pipe' }),
      (name) => readFileSync(join(directory, name), 'utf8'),
      (name, text) => writeFileSync(join(directory, name), text),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}
