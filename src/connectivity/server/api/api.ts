import { AGENTS, type Agent } from '../../../api/agent/report.ts';
import { apiVersionOf } from '../../../runtime/client/resource.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../../../runtime/server/httpServer.ts';
import { checkAnswer, checkError } from '../../protocol/checkResult.ts';
import { EVALUATIONS_PATH, type Evaluations } from '../../protocol/evaluation.ts';
import type { Assignment, Measurement } from '../../protocol/measurement.ts';
import { PING_PATH } from '../../protocol/ping.ts';
import { readReport, REPORT_LIMIT_BYTES, reportJson, type ReadReport } from '../../protocol/report.ts';
import { marked } from '../auth/mark.ts';
import { nameProblem } from '../auth/decide.ts';
import type { ReportGate, Sender } from '../auth/reportGate.ts';
import { inParts } from '../reports/inParts.ts';
import type { AgentState, Reports } from '../reports/reports.ts';
import { checkAgents, mayReport, type ExpectedPods, type StartGrace } from './check.ts';

/** The data and functions that the API uses. */
export interface ConnectivityApi {
  readonly reports: Reports;
  /** Decides who may report. */
  readonly gate: Pick<ReportGate, 'admit' | 'refuses'>;
  readonly expected: () => ExpectedPods;
  /** Whether a pod is one of them. */
  readonly isExpected: (pod: string) => boolean;
  /** The node of a pod, for a report that names none; undefined if it is not known. */
  readonly nodeOf: (pod: string) => string | undefined;
  /** For agents that have not reported since the start of this server. */
  readonly grace: () => StartGrace;
  /** Called with each accepted report. */
  readonly accepted: (state: AgentState) => void;
  /** Called with each accepted report and its measurement, if it has one. Returns what the agent is to do. */
  readonly measured: (state: AgentState, measurement: Measurement | undefined) => Assignment | undefined;
  readonly evaluations: () => Promise<Evaluations>;
  /** The object of an agent in the store; undefined if the store has none yet. */
  readonly stored: (pod: string) => Agent['metadata'];
  /** The answer of /metrics. */
  readonly metrics: () => Promise<HttpAnswer>;
}

const AGENTS_PATH = '/api/v1/agents/';
const NOT_FOUND: HttpAnswer = { status: 404, text: '404 page not found\n' };
/** The original server wanted to send this, but sent 200 and an empty body. */
const UNKNOWN_AGENT: HttpAnswer = { status: 404, text: 'There is no such entry in the agent cache\n' };

const TOO_MANY: HttpAnswer = { status: 429, text: 'too many reports of pods that are not known to run\n' };

/** The HTTP API of the original server, on its paths. */
export function connectivityApi(api: ConnectivityApi): HttpHandler {
  return (request) => {
    const { path } = request;
    if (path.startsWith(AGENTS_PATH) && path.length > AGENTS_PATH.length) {
      return agent(api, request, path.slice(AGENTS_PATH.length));
    }
    const read = READS[path];
    if (read === undefined) return NOT_FOUND;
    return isRead(request) ? read(api) : notAllowed('GET, HEAD');
  };
}

const READS: Readonly<Record<string, (api: ConnectivityApi) => HttpAnswer | Promise<HttpAnswer>>> = {
  // Go's router redirects a path without its slash.
  '/api/v1/agents': () => ({ status: 301, text: '', headers: { location: AGENTS_PATH } }),
  [AGENTS_PATH]: ({ reports }) => allReports(reports),
  '/api/v1/connectivity_check': check,
  [EVALUATIONS_PATH]: async ({ evaluations }) => json(200, await evaluations()),
  [PING_PATH]: () => ({ status: 200, text: '' }),
  '/metrics': ({ metrics }) => metrics(),
};

function agent(api: ConnectivityApi, request: HttpRequest, name: string): HttpAnswer | Promise<HttpAnswer> {
  if (name.includes('/')) return NOT_FOUND;
  if (request.method === 'POST') return accept(api, request, name);
  if (!isRead(request)) return notAllowed('GET, HEAD, POST');
  const state = nameProblem(name) === undefined ? api.reports.get(name) : undefined;
  return state === undefined ? UNKNOWN_AGENT : json(200, agentJson(state, api.stored(name)));
}

/** The metadata that Go writes for an object that is not stored yet. */
const UNSTORED = { creationTimestamp: null };

/** As the original server with its CRD store: the whole object. An anonymous report is marked by an annotation. */
function agentJson({ report, anonymous }: AgentState, metadata: Agent['metadata']): object {
  return {
    kind: AGENTS.kind,
    apiVersion: apiVersionOf(AGENTS),
    metadata: { ...marked(metadata ?? { name: report.podname }, anonymous), ...(metadata ? {} : UNSTORED) },
    spec: reportJson(report),
  };
}

/** Accepts a report. Decides who may report before it reads the body, so that refused reports cost little. */
async function accept(api: ConnectivityApi, request: HttpRequest, name: string): Promise<HttpAnswer> {
  const problem = nameProblem(name);
  if (problem !== undefined) return { status: 400, text: `${problem}\n` };
  const admitted = await api.gate.admit(request, name);
  if ('refused' in admitted) return admitted.refused;
  const { sender } = admitted;
  const read = readReport(name, await request.body(REPORT_LIMIT_BYTES));
  if ('problem' in read) return read.problem;
  const refused = api.gate.refuses(read.report, sender) ?? (mayReport(api, name) ? undefined : TOO_MANY);
  return refused ?? take(api, read, sender, request.accept);
}

function take(
  api: ConnectivityApi,
  { report, measurement }: ReadReport,
  sender: Sender,
  accept: string | undefined,
): HttpAnswer {
  const isAnonymous = sender === 'anonymous';
  const node = isAnonymous ? api.nodeOf(report.podname) : sender.reporter.node;
  // The chart of the original does not set the node of an agent.
  const nodename = report.nodename === '' ? (node ?? '') : report.nodename;
  const state = api.reports.accept({ ...report, nodename }, isAnonymous);
  api.accepted(state);
  const assignment = api.measured(state, measurement);
  return assignment !== undefined && acceptsJson(accept) ? json(200, assignment) : { status: 200, text: '' };
}

/** Whether the client named JSON. The original agent sends no header Accept, and gets an empty body. */
function acceptsJson(accept = ''): boolean {
  return accept.split(',').some((type) => type.split(';')[0]?.trim().toLowerCase() === 'application/json');
}

/** Answers whether all agents report: 500 if the only missing agents may not have had the time to report. */
function check({ reports, expected, grace }: ConnectivityApi): HttpAnswer {
  const found = expected();
  if ('problem' in found) return { status: 500, text: checkError(found.problem) };
  const missing = checkAgents(found.pods, (pod) => reports.ageOf(pod), grace());
  const { absent, outdated, awaited } = missing;
  if (awaited.length > 0 && absent.length + outdated.length === 0) {
    return { status: 500, text: checkError(`since the server started, ${awaited.join(', ')} had no time to report`) };
  }
  const { status, body } = checkAnswer(missing, found.pods.length);
  return json(status, body);
}

function isRead({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function notAllowed(allow: string): HttpAnswer {
  return { status: 405, text: 'Method Not Allowed\n', headers: { allow } };
}

/** Returns JSON with its real content type; Go's net/http in the original guessed text/plain. */
function json(status: number, body: object): HttpAnswer {
  return { status, text: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/**
 * All reports as a JSON object by pod, sorted by pod as Go's maps are in JSON. With 10,000 agents they are 10 MB and more,
 * so they are sent in parts. Each report is read when its part is made: a slow reader holds one part and the names.
 * Reports that are forgotten meanwhile are left out.
 */
export function allReports(reports: Reports): HttpAnswer {
  const parts = inParts(objectTexts(reports));
  const first = parts.next();
  const second = parts.next();
  const answer = { status: 200, text: first.value ?? '', headers: { 'content-type': 'application/json' } };
  return second.done === true ? answer : { ...answer, parts: withFirst(second.value, parts) };
}

/** The texts of a JSON object, in their order. */
function* objectTexts(reports: Reports): Generator<string> {
  const pods = [...reports.entries()].map(([pod]) => pod).sort();
  let separator = '{';
  for (const pod of pods) {
    const state = reports.get(pod);
    if (state === undefined) continue;
    yield `${separator}${JSON.stringify(pod)}:${JSON.stringify(reportJson(state.report))}`;
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function* withFirst(first: string, others: Iterable<string>): Generator<string> {
  yield first;
  yield* others;
}
