import {
  POD_PLACEMENT_NAME,
  POD_PLACEMENTS,
  type PodPlacement,
  type PodPlacementEntry,
} from '../../../api/podplacement/schema.ts';
import { APPLY_CRD } from '../../../api/crd.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { Applier } from '../../../runtime/apply/apply.ts';
import type { Client } from '../../../runtime/client/client.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { isNotFound, WaitingError, type ApiError } from '../../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../../runtime/client/resource.ts';
import { TokenBuckets, type Allowance } from '../../../runtime/async/limit.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import { decidePodPlacement } from '../decide/workload/podPlacement.ts';
import type { Placed } from '../observe/observation.ts';
import { BY_NAMESPACE } from '../names.ts';
import { failureOf, readFailureOf } from '../failures.ts';

/**
 * How often the PodPlacement of a namespace is written. An object of up to 0.9 MB, which every API server reads again: TrafficWatches
 * that change all the time must not cause more than one write in two seconds. The burst is for TrafficWatches that change together.
 */
const PLACEMENT_ALLOWANCE: Allowance = { burst: 30, perSecond: 0.5 };

interface PodPlacementsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly client: Pick<Client, 'delete'>;
  readonly applier: Applier;
  /** With the index BY_NAMESPACE. */
  readonly watches: Pick<Overlay<TrafficWatch>, 'byIndex'>;
  readonly placements: Pick<Overlay<PodPlacement>, 'get' | 'wrote'>;
  /** The error of the API server while it refuses to list or watch PodPlacements. */
  readonly refusal: () => ApiError | undefined;
  /** Called with the keys of TrafficWatches whose `placedOf` changed, but for changes of the object. */
  readonly changed: (keys: readonly string[]) => void;
}

/** The result of the last write of a namespace. */
interface LastWrite {
  readonly omitted: ReadonlySet<string>;
  readonly problem: Failure | undefined;
}

const NOTHING: LastWrite = { omitted: new Set(), problem: undefined };

/** Writes the PodPlacements, from which the admission policy takes what it adds to pods: one for each namespace. */
export class PodPlacements {
  readonly #o: PodPlacementsOptions;
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Promise<void>>();
  /** Only of namespaces with something to report. */
  readonly #lastWrites = new Map<string, LastWrite>();
  readonly #allowances: TokenBuckets;

  constructor(options: PodPlacementsOptions) {
    this.#o = options;
    this.#allowances = new TokenBuckets(options.clock);
  }

  /** Returns the entry of a TrafficWatch on the API server, and why it may be missing. @param key namespace/name */
  placedOf(key: string): Placed {
    const { namespace = '', name } = refOfKey(key);
    const { omitted, problem } = this.#lastWrites.get(namespace) ?? NOTHING;
    const refusal = this.#o.refusal();
    return {
      entry: this.#entryOf(namespace, name),
      isOmitted: omitted.has(name),
      problem: problem ?? (refusal && problemOf(readFailureOf('reading PodPlacements', refusal), refusal)),
    };
  }

  /**
   * Writes the PodPlacement of a namespace as its TrafficWatches are when the write begins, if it differs; deletes it if
   * none of them places pods. Calls during a write share the next one.
   *
   * @throws WaitingError if the namespace has used its allowance: try again later; ApiError, TransportError, NotLeaderError
   */
  sync(namespace: string): Promise<void> {
    const waiting = this.#waiting.get(namespace);
    if (waiting !== undefined) return waiting;
    const before = this.#running.get(namespace) ?? Promise.resolve();
    const write = before
      .catch(() => undefined)
      .then(() => {
        this.#waiting.delete(namespace);
        return this.#write(namespace);
      });
    this.#waiting.set(namespace, write);
    this.#running.set(namespace, write);
    const forget = (): void => {
      if (this.#running.get(namespace) === write) this.#running.delete(namespace);
    };
    write.then(forget, forget);
    return write;
  }

  #entryOf(namespace: string, name: string): PodPlacementEntry | undefined {
    const placement = this.#o.placements.get(`${namespace}/${POD_PLACEMENT_NAME}`);
    return placement?.spec.entries?.find(({ trafficWatch }) => trafficWatch === name);
  }

  async #write(namespace: string): Promise<void> {
    const { client, applier, watches, placements } = this.#o;
    const waitMs = this.#allowances.waitMs(namespace, PLACEMENT_ALLOWANCE);
    if (waitMs > 0) throw new WaitingError('PlacementWaits', `PodPlacement of ${namespace} was written often`, waitMs);
    const ref = { namespace, name: POD_PLACEMENT_NAME };
    const live = placements.get(`${namespace}/${POD_PLACEMENT_NAME}`);
    const { spec, omitted } = decidePodPlacement(watches.byIndex(BY_NAMESPACE, namespace));
    try {
      if (spec === undefined) {
        if (live !== undefined) {
          this.#allowances.take(namespace, PLACEMENT_ALLOWANCE);
          await client.delete(POD_PLACEMENTS, ref);
        }
      } else if (!applier.isUpToDate(POD_PLACEMENTS, { metadata: ref, spec }, live)) {
        this.#allowances.take(namespace, PLACEMENT_ALLOWANCE);
        const { written, object } = await applier.apply(POD_PLACEMENTS, { metadata: ref, spec }, live);
        if (written) placements.wrote(object);
      }
    } catch (error) {
      const failure = failureOf(`writing the PodPlacement ${POD_PLACEMENT_NAME}`, error);
      this.#ended(namespace, { omitted, problem: problemOf(failure, error) });
      throw error;
    }
    this.#ended(namespace, { omitted, problem: undefined });
  }

  #ended(namespace: string, now: LastWrite): void {
    const before = this.#lastWrites.get(namespace) ?? NOTHING;
    if (now.omitted.size === 0 && now.problem === undefined) this.#lastWrites.delete(namespace);
    else this.#lastWrites.set(namespace, now);
    const names =
      before.problem?.message === now.problem?.message
        ? [...new Set([...now.omitted, ...before.omitted])].filter(
            (name) => now.omitted.has(name) !== before.omitted.has(name),
          )
        : this.#o.watches.byIndex(BY_NAMESPACE, namespace).map((watch) => refOfKey(keyOf(watch)).name);
    if (names.length > 0) this.#o.changed(names.map((name) => `${namespace}/${name}`));
  }
}

function problemOf(failure: Failure, error: unknown): Failure {
  if (!isNotFound(error)) return failure;
  return { ...failure, message: `the API server does not serve PodPlacement: ${APPLY_CRD}` };
}
