import { describe, expect, it } from 'vitest';
import { decideReporter, refuseNamesakes, refuseNode, type KnownPod, type PodLookup } from './decide.ts';
import { identityOf, type Identity, type PodIdentity } from './token.ts';

const POD: PodIdentity = { namespace: 'ns', serviceAccount: 'sa', pod: 'a', podUid: 'u1', node: 'n1' };
const KNOWN: KnownPod = { uid: 'u1', node: 'n1' };
const REPORTER = { reporter: { namespace: 'ns', pod: 'a', node: 'n1' } };
const refused = (status: number, text: string) => ({ refusal: { status, text: `${text}\n` } });

interface Row {
  readonly why: string;
  readonly identity?: Identity;
  readonly known?: PodLookup;
  readonly accounts?: readonly string[];
  readonly result: object;
}

const ROWS: readonly Row[] = [
  { why: 'the token of the pod in the URL', result: REPORTER },
  { why: 'its ServiceAccount is listed', accounts: ['x/y', 'ns/sa'], result: REPORTER },
  {
    why: 'its ServiceAccount is not listed',
    accounts: ['x/y', 'ns/sb'],
    result: refused(403, 'the ServiceAccount is ns/sa: must be one of x/y, ns/sb'),
  },
  {
    why: 'the token of another pod',
    identity: { ...POD, pod: 'b' },
    result: refused(403, 'podname is a: must be b, the pod of the token'),
  },
  {
    why: 'a token that no pod is bound to',
    identity: { unbound: 'system:serviceaccount:ns:sa' },
    result: refused(403, 'the token of system:serviceaccount:ns:sa: must be bound to the pod a'),
  },
  { why: 'pods are not read yet', known: 'unread', result: refused(503, 'the pods of the agents are not read yet') },
  {
    why: 'a pod that is no agent',
    known: undefined,
    result: refused(403, 'podname is a: must be a pod of an agent in ns'),
  },
  {
    why: 'an earlier pod of the same name',
    known: { uid: 'u2', node: 'n1' },
    result: refused(403, 'podname is a: must be a pod of an agent in ns'),
  },
  { why: 'an API server that names no node', identity: { ...POD, node: undefined }, result: REPORTER },
  {
    why: 'neither names a node',
    identity: { ...POD, node: undefined },
    known: { uid: 'u1', node: undefined },
    result: refused(403, 'podname is a: must be a pod that runs on a node'),
  },
];

describe('decideReporter', () => {
  it.each(ROWS)('$why', ({ identity = POD, accounts = [], result, ...row }) => {
    const known = 'known' in row ? row.known : KNOWN;
    expect(decideReporter(identity, 'a', known, { serviceAccounts: accounts })).toEqual(result);
  });
});

describe('refuseNode', () => {
  const { reporter } = REPORTER;
  it.each(['', 'n1'])('allows "%s"', (node) => expect(refuseNode(node, reporter)).toBeUndefined());
  it('names both nodes', () => {
    expect(refuseNode('n2', reporter)).toEqual({
      status: 403,
      text: 'nodename is n2: must be n1, the node of the pod a\n',
    });
  });
});

describe('identityOf', () => {
  const extra = {
    'authentication.kubernetes.io/pod-name': ['a'],
    'authentication.kubernetes.io/pod-uid': ['u1'],
    'authentication.kubernetes.io/node-name': ['n1'],
  };
  const status = { authenticated: true, audiences: ['aud'], user: { username: 'system:serviceaccount:ns:sa', extra } };

  it('reads the pod and its node', () => expect(identityOf(status, 'aud')).toEqual(POD));
  it.each([
    ['no status', undefined],
    ['an invalid token', { ...status, authenticated: false }],
    ['another audience', { ...status, audiences: ['other'] }],
    ['an authenticator without audiences', { authenticated: true, user: status.user }],
  ])('finds none in the answer with %s', (_, answer) => expect(identityOf(answer, 'aud')).toBeUndefined());
  it.each([
    ['a user', { ...status.user, username: 'alice' }, 'alice'],
    ['a token without pod', { username: status.user.username, extra: {} }, status.user.username],
  ])('%s is not bound to a pod', (_, user, unbound) => {
    expect(identityOf({ ...status, user }, 'aud')).toEqual({ unbound });
  });
});

describe('refuseNamesakes', () => {
  it.each([
    ['no known pod', [], undefined],
    ['one pod', ['ns'], undefined],
    [
      'pods of two namespaces',
      ['ns', 'a'],
      { status: 403, text: 'podname is x: must be the name of one agent, and there is one in a and in ns\n' },
    ],
  ])('of %s', (_, namespaces, refusal) => {
    expect(refuseNamesakes('x', namespaces)).toEqual(refusal);
  });
});
