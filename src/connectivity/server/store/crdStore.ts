import { AGENTS, type Agent } from '../../../api/agent/report.ts';
import { withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { isMarked, marked } from '../auth/mark.ts';
import type { AgentState } from '../reports/reports.ts';
import type { StoreBackend } from './reportStore.ts';

const FIELD_MANAGER = 'traffic-operator-connectivity';
/** HTTP status of an object that its CRD does not allow. */
const INVALID = 422;

interface CrdStoreOptions {
  readonly client: Client;
  /** The namespace of the Agent objects. */
  readonly namespace: string;
}

/** Keeps reports and counters as Agent objects. */
export class CrdStore implements StoreBackend {
  readonly mostAtOnce = 1;
  readonly paceMs = 100;
  readonly #o: CrdStoreOptions;
  readonly #metadata = new Map<string, Agent['metadata']>();

  constructor(options: CrdStoreOptions) {
    this.#o = options;
  }

  /** The metadata of an Agent object, as last written, without managedFields: they take more than all the rest. */
  metadataOf(pod: string): Agent['metadata'] {
    return this.#metadata.get(pod);
  }

  async list(signal: AbortSignal): Promise<readonly AgentState[]> {
    const { client, namespace } = this.#o;
    const agents = await client.list(AGENTS, { namespace, signal });
    for (const agent of agents) this.#metadata.set(agent.spec.podname, withoutManagedFields(agent).metadata);
    return agents.map(({ metadata, spec, status }) => ({
      report: spec,
      reportCount: status?.reportCount ?? 0,
      errorCount: status?.errorCount ?? 0,
      anonymous: isMarked(metadata),
    }));
  }

  async put([state]: readonly AgentState[], signal: AbortSignal): Promise<readonly AgentState[]> {
    if (state === undefined) return [];
    const agent = agentOf(state, this.#o.namespace);
    const written = await this.#o.client.apply(AGENTS, agent, { fieldManager: FIELD_MANAGER, force: true, signal });
    this.#metadata.set(state.report.podname, withoutManagedFields(written).metadata);
    return [state];
  }

  async delete(pods: readonly string[], signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#o;
    for (const name of pods) {
      await client.delete(AGENTS, { namespace, name }, { signal });
      this.#metadata.delete(name);
    }
  }

  isRefusal(error: unknown): boolean {
    return error instanceof ApiError && error.status === INVALID;
  }
}

function agentOf({ report, reportCount, errorCount, anonymous }: AgentState, namespace: string): Agent {
  const metadata = marked({ name: report.podname, namespace }, anonymous);
  return { metadata, spec: report, status: { reportCount, errorCount } };
}
