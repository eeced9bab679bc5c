import type { Registry } from 'prom-client';
import type { CustomResource } from '../../api/crd.ts';
import type { FlagProblem, FlagTable, FlagValues } from '../../options/flagTable.ts';
import type { Part } from '../../runtime/process/part.ts';
import type { BuiltIn } from './builtIn.ts';
import type { CleanupContext, ControllerContext } from './context.ts';
import type { SharedFlags } from './flags.ts';
import type { ControllerRights } from './rights.ts';

/** A controller that was created and is ready to run. */
export interface RunningController {
  /** The parts that must run, such as caches and controllers. */
  readonly parts: readonly Part[];
  /** Enqueues all objects. Called at the start of leadership. */
  enqueueAll(): void;
}

/**
 * Everything that the rest of the program needs of a controller. The manager, the clean-up, the CRDs, the rights in the
 * chart, docs/flags.md and docs/metrics.md are made from the list of controllers in registry.ts. A new controller
 * therefore needs only its own folder and one line in that list.
 */
interface ControllerDefinition<F extends FlagTable> {
  /** Lower case, unique: 'trafficwatch'. */
  readonly name: string;
  /** The custom resources of the controller. Their CRDs are generated. */
  readonly kinds: readonly CustomResource[];
  /** The flags of the manager that only this controller uses. */
  readonly flags: F;
  /** The first invalid combination of flags that are valid individually, or undefined. */
  readonly flagProblem?: (flags: SharedFlags & FlagValues<F>) => FlagProblem | undefined;
  /** @param namespace the namespace of the operator */
  rights(namespace: string): ControllerRights;
  /** Registers the same metrics as `create`, for docs/metrics.md. */
  registerMetrics(registry: Registry): void;
  /** The types of components that it offers to TrafficStacks. */
  readonly builtIns?: (flags: SharedFlags & FlagValues<F>) => readonly BuiltIn[];
  /** Undefined if another process than the manager runs the controller. */
  readonly create?: (context: ControllerContext, flags: SharedFlags & FlagValues<F>) => RunningController;
  /**
   * Removes everything that the controller wrote to the cluster. Runs after all replicas have stopped.
   *
   * @throws ApiError, TransportError, NotLeaderError if a removal failed
   */
  cleanUp(context: CleanupContext): Promise<void>;
}

/** A controller in the list of all controllers. `flags` has the values of all flags of the manager. */
export interface ControllerModule extends Omit<ControllerDefinition<FlagTable>, 'flagProblem' | 'builtIns' | 'create'> {
  readonly flagProblem?: (flags: SharedFlags) => FlagProblem<keyof SharedFlags> | undefined;
  readonly builtIns?: (flags: SharedFlags) => readonly BuiltIn[];
  readonly create?: (context: ControllerContext, flags: SharedFlags) => RunningController;
}

/** Converts the definition of a controller for the list of all controllers. The type of its own flags ends here. */
export function defineController<F extends FlagTable>(definition: ControllerDefinition<F>): ControllerModule {
  const { flagProblem, builtIns, create, ...rest } = definition;
  type Own = SharedFlags & FlagValues<F>;
  return {
    ...rest,
    ...(flagProblem && {
      flagProblem: (flags) => flagProblem(flags as Own) as FlagProblem<keyof SharedFlags> | undefined,
    }),
    ...(builtIns && { builtIns: (flags) => builtIns(flags as Own) }),
    ...(create && { create: (context, flags) => create(context, flags as Own) }),
  };
}
