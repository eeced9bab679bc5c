import type { Registry } from 'prom-client';
import type { CustomResource } from '../../api/crd.ts';
import type { FlagProblem, FlagTable, FlagValues } from '../../options/flagTable.ts';
import type { Part } from '../../runtime/process/part.ts';
import type { CleanupContext, ControllerContext } from './context.ts';
import type { SharedFlags } from './flags.ts';
import type { ControllerRights } from './rights.ts';

/** A controller that was made and is ready to run. */
export interface RunningController {
  /** What has to run: caches, controllers and what else it needs. */
  readonly parts: readonly Part[];
  /** Looks at everything again: called when this process begins to lead. */
  enqueueAll(): void;
}

/**
 * All that the rest of the program has to know of a controller. The manager, the clean-up, the CRDs, the rights in the
 * chart, docs/flags.md and docs/metrics.md are made from the list of these (registry.ts), so that a new controller is its
 * own folder and one line there.
 */
export interface ControllerDefinition<F extends FlagTable> {
  /** Lower case, unique: 'trafficwatch'. */
  readonly name: string;
  /** The kinds that it brings; their CRDs are generated. */
  readonly kinds: readonly CustomResource[];
  /** Its own flags of the manager. */
  readonly flags: F;
  /** What is wrong with flags that are right each by itself. */
  readonly flagProblem?: (flags: SharedFlags & FlagValues<F>) => FlagProblem | undefined;
  /** @param namespace the operator's own */
  rights(namespace: string): ControllerRights;
  /** Registers its metrics, as `create` does; docs/metrics.md is made from what is then registered. */
  registerMetrics(registry: Registry): void;
  readonly create: (context: ControllerContext, flags: SharedFlags & FlagValues<F>) => RunningController;
  /**
   * Takes off everything that the controller has put on objects in the cluster. Runs after all replicas have ended.
   *
   * @throws ApiError, TransportError, NotLeaderError when something could not be taken off
   */
  cleanUp(context: CleanupContext): Promise<void>;
}

/** A controller as the list of all has it: the values of all the manager's flags are there, its own among them. */
export interface ControllerModule extends Omit<ControllerDefinition<FlagTable>, 'flagProblem' | 'create'> {
  readonly flagProblem?: (flags: SharedFlags) => FlagProblem<keyof SharedFlags> | undefined;
  readonly create: (context: ControllerContext, flags: SharedFlags) => RunningController;
}

/** Takes a controller's definition into the list of all: which flags are its own is known here alone. */
export function defineController<F extends FlagTable>(definition: ControllerDefinition<F>): ControllerModule {
  const { flagProblem, create, ...rest } = definition;
  type Own = SharedFlags & FlagValues<F>;
  return {
    ...rest,
    ...(flagProblem && {
      flagProblem: (flags) => flagProblem(flags as Own) as FlagProblem<keyof SharedFlags> | undefined,
    }),
    create: (context, flags) => create(context, flags as Own),
  };
}
