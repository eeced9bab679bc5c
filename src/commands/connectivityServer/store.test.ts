import { describe, expect, it } from 'vitest';
import { storeChoice } from './store.ts';

const FLAGS = {
  kubeproxyinit: false,
  etcdEndpoints: 'https://etcd-0:2379',
  etcdTree: 'netchecker',
  etcdCa: undefined,
  etcdCert: undefined,
  etcdKey: undefined,
};
const NO_FILES = { ca: undefined, cert: undefined, key: undefined };

describe('the store is', () => {
  it.each([
    ['Agent objects by default', { kubeproxyinit: true, etcdEndpoints: undefined }],
    ['Agent objects with endpoints, as in the original', { kubeproxyinit: true }],
  ])('%s', (_, flags) => expect(storeChoice({ ...FLAGS, ...flags })).toEqual({ kind: 'crd' }));

  it('etcd', () => {
    expect(storeChoice(FLAGS)).toEqual({
      kind: 'etcd',
      endpoints: ['https://etcd-0:2379'],
      tree: 'netchecker',
      paths: NO_FILES,
    });
  });

  it('etcd with several endpoints, a tree of several parts, and files', () => {
    const files = { etcdCa: '/ca', etcdCert: '/cert', etcdKey: '/key' };
    const etcdEndpoints = ' https://etcd-0:2379/,https://[::1]:2379,';
    expect(storeChoice({ ...FLAGS, ...files, etcdEndpoints, etcdTree: '/a/b/' })).toEqual({
      kind: 'etcd',
      endpoints: ['https://etcd-0:2379', 'https://[::1]:2379'],
      tree: '/a/b',
      paths: { ca: '/ca', cert: '/cert', key: '/key' },
    });
  });

  it('etcd without files that are empty texts, the defaults of the original', () => {
    const files = { etcdCa: '', etcdCert: '', etcdKey: '' };
    expect(storeChoice({ ...FLAGS, ...files })).toMatchObject({ paths: NO_FILES });
  });
});

describe('a usage error', () => {
  const URLS = 'must be URLs such as https://etcd-0:2379';
  it.each([
    [
      'without endpoints',
      { etcdEndpoints: undefined },
      '--kubeproxyinit=false: reports are then stored in etcd, so --etcd-endpoints',
    ],
    ['with empty endpoints', { etcdEndpoints: ' ,' }, '--etcd-endpoints must be given'],
    ['for an endpoint without scheme', { etcdEndpoints: 'etcd-0:2379' }, `--etcd-endpoints: etcd-0:2379: ${URLS}`],
    ['for an endpoint with a path', { etcdEndpoints: 'https://etcd-0/v2' }, URLS],
    [
      'for a password, which it hides',
      { etcdEndpoints: 'https://a:secret@b' },
      '--etcd-endpoints: https://[redacted]@b:',
    ],
    [
      'for files without TLS',
      { etcdEndpoints: 'http://etcd-0:2379', etcdCa: '/ca' },
      '--etcd-ca=/ca: not used for http://etcd-0:2379; --etcd-endpoints must be https',
    ],
    ['for a certificate without key', { etcdCert: '/c' }, '--etcd-cert=/c: needs --etcd-key, too'],
    ['for a key without certificate', { etcdKey: '/k' }, '--etcd-key=/k: needs --etcd-cert, too'],
    ['for an empty tree', { etcdTree: '/' }, '--etcd-tree=/: must be the start of the keys'],
  ])('%s', (_, flags, message) => expect(() => storeChoice({ ...FLAGS, ...flags })).toThrow(message));
});
