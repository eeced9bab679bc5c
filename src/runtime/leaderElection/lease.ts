import type { V1Lease, V1LeaseSpec } from '@kubernetes/client-node';
import { isNotFound } from '../client/errors.ts';
import { microTime, apiVersionOf, resourcePath, type KubeObject, type ObjectRef } from '../client/resource.ts';
import { LEASES } from '../client/resources.ts';
import type { Transport, TransportRequest } from '../client/transport.ts';

/** A Lease's spec in JSON; client-node's type uses its own class for times. */
export interface LeaseSpec extends Omit<V1LeaseSpec, 'acquireTime' | 'renewTime'> {
  acquireTime?: string;
  renewTime?: string;
}

/** coordination.k8s.io/v1. */
export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

/** A candidate for the Lease, and the duration of the Lease without a renewal. */
interface Candidate {
  identity: string;
  leaseDurationMs: number;
}

/** Converts a Lease from client-node's types to its JSON form. */
export function asLease(lease: V1Lease): Lease {
  return lease as Lease;
}

/** The spec with which `candidate` takes the Lease. A holder that takes its own Lease counts no transition. */
export function takenSpec(before: LeaseSpec | undefined, candidate: Candidate, now: number): LeaseSpec {
  const isOwn = before?.holderIdentity === candidate.identity;
  const transitions = before?.leaseTransitions ?? 0;
  return {
    ...before,
    holderIdentity: candidate.identity,
    leaseDurationSeconds: Math.ceil(candidate.leaseDurationMs / 1000),
    acquireTime: isOwn ? before.acquireTime : microTime(now),
    renewTime: microTime(now),
    leaseTransitions: isOwn || before === undefined ? transitions : transitions + 1,
  };
}

/** The spec of a released Lease: without a holder and with the shortest duration, as in client-go. */
export function releasedSpec(before: LeaseSpec | undefined, now: number): LeaseSpec {
  return {
    ...before,
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: microTime(now),
    renewTime: microTime(now),
  };
}

/** Reads and writes one Lease, on the separate connection of leader election. */
export class LeaseStore {
  readonly #transport: Transport;
  readonly #ref: Required<ObjectRef>;

  constructor(transport: Transport, ref: Required<ObjectRef>) {
    this.#transport = transport;
    this.#ref = ref;
  }

  /** @returns undefined if the Lease does not exist */
  async read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#send({ method: 'GET', path: resourcePath(LEASES, this.#ref), signal });
    } catch (error) {
      if (isNotFound(error)) {
        return undefined;
      }
      throw error;
    }
  }

  /**
   * Writes the spec, and creates the Lease if `before` is undefined.
   *
   * @throws ApiError 409 if another client wrote after `before` was read
   */
  write(before: Lease | undefined, spec: LeaseSpec, options: Partial<TransportRequest>): Promise<Lease> {
    const { name, namespace } = this.#ref;
    const type = { apiVersion: apiVersionOf(LEASES), kind: LEASES.kind };
    return before === undefined
      ? this.#send({
          method: 'POST',
          path: resourcePath(LEASES, { namespace }),
          body: { ...type, metadata: { name, namespace }, spec },
          ...options,
        })
      : this.#send({
          method: 'PUT',
          path: resourcePath(LEASES, this.#ref),
          body: { ...type, metadata: before.metadata, spec },
          ...options,
        });
  }

  #send(request: TransportRequest): Promise<Lease> {
    return this.#transport.request<Lease>({ ...request, lane: 'lease' });
  }
}
