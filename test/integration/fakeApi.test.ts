import { afterAll, beforeAll } from 'vitest';
import { apiContract } from '../../src/runtime/testing/fakeApi/contract.ts';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { connect } from '../harness/runtimeScene.ts';

/** A real API server keeps what unit tests take for granted of the fake one. */
let plane: ControlPlane;
let connection: ReturnType<typeof connect>;
beforeAll(async () => {
  plane = await startControlPlane();
  connection = connect(plane);
});
afterAll(async () => {
  await connection.transport.close();
  await plane.stop();
});

apiContract(() => connection.client);
