import type { V1Lease, V1LeaseSpec } from '@kubernetes/client-node';
import { isNotFound } from '../client/errors.ts';
import { microTime } from '../client/microTime.ts';
import { apiVersionOf, resourcePath, type KubeObject, type ObjectRef } from '../client/resource.ts';
import { LEASES } from '../client/resources.ts';
import type { Transport, TransportRequest } from '../client/transport.ts';

/** A Lease's spec as JSON has it: client-node's type has a class of its own for the times. */
export interface LeaseSpec extends Omit<V1LeaseSpec, 'acquireTime' | 'renewTime'> {
  acquireTime?: string;
  renewTime?: string;
}

/** coordination.k8s.io/v1. */
export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

/** Who wants to hold the lease, and for how long without renewing it. */
export interface Candidate {
  identity: string;
  leaseDurationMs: number;
}

/** A Lease from client-node's types, as JSON has it. */
export function asLease(lease: V1Lease): Lease {
  return lease as Lease;
}

/** The spec of a lease that `candidate` takes. A holder that takes its own again counts no transition. */
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

/** The spec of a lease that its holder gives up: as client-go, nobody's, and for the shortest time there is. */
export function releasedSpec(before: LeaseSpec | undefined, now: number): LeaseSpec {
  return {
    ...before,
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: microTime(now),
    renewTime: microTime(now),
  };
}

/** Reads and writes one Lease on the connection that leader election has of its own. */
export class LeaseStore {
  readonly #transport: Transport;
  readonly #ref: Required<ObjectRef>;

  constructor(transport: Transport, ref: Required<ObjectRef>) {
    this.#transport = transport;
    this.#ref = ref;
  }

  /** @returns undefined when there is none */
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
   * Writes the spec, making the Lease when `before` is undefined.
   *
   * @throws ApiError 409 when somebody wrote since `before` was read
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
