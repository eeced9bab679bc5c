/** A request to the server. */
export interface Exchange {
  /** For the name of its file. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

const AGENT = '/api/v1/agents/netchecker-agent-a';
const HOSTNET = '/api/v1/agents/netchecker-agent-hostnet-a';
const CHECK = '/api/v1/connectivity_check';

/** Recorded from k8s-netchecker-agent, built from its source: with no MY_NODE_NAME, and times that it did not measure. */
const RECORDED = {
  report_interval: 60,
  nodename: '',
  podname: 'netchecker-agent-a',
  hostdate: '2026-11-25T02:19:29.218017302Z',
  uptime: 15137,
  nslookup: { 'netchecker-service': ['198.18.0.10'] },
  ips: { eth0: ['198.18.0.2/24', 'fe80::fc:ff:fe00:1/64'], ifb0: [], lo: ['127.0.0.1/8', '::1/128'] },
  network_probes: [
    probe('http://198.18.0.9:1/b', { Total: 9_223_372_036_854 }),
    probe('http://netchecker-service:8081/api/v1/ping', {
      ConnectionResult: 1,
      HTTPCode: 200,
      Total: 9_223_372_036_854,
      ContentTransfer: 9_223_372_036_854,
      ServerProcessing: 14,
    }),
  ],
  zero_extender: [0, 0, 0, 0, 0],
};
const LEAST = { report_interval: 60, nodename: 'n1', podname: 'netchecker-agent-hostnet-a' };

function probe(URL: string, figures: object): object {
  const none = { ConnectionResult: 0, HTTPCode: 0, Total: 0, ContentTransfer: 0, TCPConnection: 0 };
  return { URL, ...none, DNSLookup: 0, Connect: 0, ServerProcessing: 0, ...figures };
}

function get(name: string, path: string, method = 'GET'): Exchange {
  return { name, method, path };
}

function post(name: string, path: string, body: unknown): Exchange {
  return { name, method: 'POST', path, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const invalid = (name: string, fields: object): Exchange =>
  post(`report-${name}`, AGENT, { ...LEAST, podname: 'netchecker-agent-a', ...fields });

/** In the order in which they are sent. */
export const EXCHANGES: readonly Exchange[] = [
  get('ping', '/api/v1/ping'),
  get('ping-head', '/api/v1/ping', 'HEAD'),
  get('ping-post', '/api/v1/ping', 'POST'),
  get('root', '/'),
  get('api', '/api/v1'),
  get('agents-none', '/api/v1/agents/'),
  get('agents-without-slash', '/api/v1/agents'),
  get('agents-post', '/api/v1/agents/', 'POST'),
  get('agent-unknown', AGENT),
  get('agent-put', AGENT, 'PUT'),
  get('agent-delete', AGENT, 'DELETE'),
  get('agent-below', `${AGENT}/x`),
  get('check-all-absent', CHECK),
  get('check-head', CHECK, 'HEAD'),
  get('check-post', CHECK, 'POST'),
  post('report-text', AGENT, 'some text'),
  post('report-empty', AGENT, ''),
  post('report-half', AGENT, '{"report_interval":60'),
  post('report-list', AGENT, '[]'),
  post('report-null', AGENT, 'null'),
  post('report-number', AGENT, '1'),
  post('report-without-fields', AGENT, {}),
  invalid('interval-zero', { report_interval: 0 }),
  invalid('interval-text', { report_interval: '60' }),
  invalid('interval-fraction', { report_interval: 1.5 }),
  invalid('interval-above', { report_interval: 86_401 }),
  invalid('podname-of-another', { podname: 'netchecker-agent-b' }),
  invalid('podname-upper-case', { podname: 'Netchecker' }),
  invalid('nodename-number', { nodename: 1 }),
  invalid('nodename-slash', { nodename: 'a/b' }),
  invalid('hostdate-no-date', { hostdate: 'yesterday' }),
  invalid('uptime-negative', { uptime: -1 }),
  invalid('nslookup-list', { nslookup: ['a'] }),
  invalid('ips-number', { ips: { lo: 1 } }),
  invalid('probes-object', { network_probes: {} }),
  invalid('probe-without-url', { network_probes: [{ Total: 1 }] }),
  invalid('probe-fraction', { network_probes: [{ URL: 'http://a', Total: 1.5 }] }),
  invalid('many-problems', { report_interval: 0, nodename: 1, hostdate: '', uptime: 1.5, ips: 1, nslookup: 1 }),
  post('report-too-large', AGENT, { ...RECORDED, zero_extender: new Array(40_000).fill(0) }),
  post('report-of-the-original-agent', AGENT, RECORDED),
  get('agent', AGENT),
  get('agent-head', AGENT, 'HEAD'),
  get('check-one-absent', CHECK),
  post('report-least', HOSTNET, LEAST),
  get('agent-least', HOSTNET),
  get('agents-two', '/api/v1/agents/'),
  get('check-all-reported', CHECK),
  post('report-nulls', HOSTNET, { ...LEAST, nslookup: null, ips: { lo: null }, network_probes: null, unknown: {} }),
  post('report-of-no-pod', '/api/v1/agents/nobody', { ...LEAST, podname: 'nobody' }),
  get('agent-of-no-pod', '/api/v1/agents/nobody'),
  get('check-counts-pods', CHECK),
];
