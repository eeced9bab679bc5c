import { afterAll, beforeAll } from 'vitest';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';

/** A control plane and a connection to it, from the first test of a file to the last. */
export interface ConnectedPlane {
  readonly plane: ControlPlane;
  readonly connected: Connected;
}

/**
 * Starts a control plane before the tests of the file, or of the `describe` around the call, and ends it after them.
 *
 * @param prepare runs when the control plane answers, before the first test
 */
export function useConnectedPlane(prepare?: (connected: Connected) => Promise<unknown>): ConnectedPlane {
  let plane: ControlPlane | undefined;
  let connected: Connected | undefined;
  beforeAll(async () => {
    plane = await startControlPlane();
    connected = connect(plane);
    await prepare?.(connected);
  });
  afterAll(async () => {
    await connected?.transport.close();
    await plane?.stop();
  });
  return {
    get plane() {
      return plane!;
    },
    get connected() {
      return connected!;
    },
  };
}
