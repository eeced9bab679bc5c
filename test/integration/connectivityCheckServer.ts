import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { CONNECTIVITY_CHECKS } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import type { Finding } from '../../src/api/connectivitycheck/finding.ts';
import { EVALUATIONS_PATH, type Evaluation } from '../../src/connectivity/protocol/evaluation.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { installCrd } from '../harness/customResource.ts';
import { freePorts } from '../harness/process.ts';

const CRD = new URL('../../deploy/crds/traffic.example.com_connectivitychecks.yaml', import.meta.url);

/** Creates the CRD of ConnectivityChecks in deploy/, and waits until its objects can be listed. */
export function installConnectivityCheckCrd(client: Client): Promise<void> {
  const crd = parse(readFileSync(CRD, 'utf8'), { version: '1.1' }) as V1CustomResourceDefinition;
  return installCrd(client, crd, CONNECTIVITY_CHECKS);
}

/** The pod network of n2 does not work, or another finding. */
export function finding(over: Partial<Finding> = {}): Finding {
  return {
    class: 'PodNetwork',
    subjects: ['n2'],
    severity: 'Failed',
    message: 'The pod network of n2 does not work.',
    evidence: { affectedPairs: 4, observedPairs: 4, pairs: [], lossPercent: 100 },
    ...over,
  };
}

/** A result of the server for three nodes. */
export function evaluation(findings: Finding[] = [], generation = 1, observedPairs = 12): Evaluation {
  const counts = { nodes: 3, excludedNodes: 0, agents: 6, reportingAgents: 6, anonymousAgents: 0, affectedPairs: 0 };
  return { generation, findings, omittedFindings: 0, counts: { ...counts, observedPairs }, excluded: [] };
}

/** The connectivity server as the operator sees it: its evaluations over HTTP. */
export interface EvaluationServer {
  readonly url: string;
  /** Requests so far. */
  readonly requests: number;
  /** The parts of the next answers. */
  evaluations: Record<string, Evaluation>;
  /** Answers instead of the evaluations. */
  respond: ((response: ServerResponse) => void) | undefined;
  /** Refuses connections, and ends those that are open, until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts the server on a free port of loopback. */
export async function startEvaluationServer(): Promise<EvaluationServer> {
  let requests = 0;
  // Of no automatic range: while the server is stopped, nobody else gets it.
  const [port] = (await freePorts(1)) as [number];
  const http = createServer((request, response) => {
    requests++;
    if (request.url !== EVALUATIONS_PATH || request.method !== 'GET') return void response.writeHead(404).end();
    if (server.respond) {
      server.respond(response);
      return;
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(server.evaluations));
  });
  const start = (): Promise<void> => new Promise((resolve) => http.listen(port, '127.0.0.1', resolve));
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  await start();
  const server: EvaluationServer = {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    evaluations: {},
    respond: undefined,
    start,
    stop,
  };
  return server;
}
