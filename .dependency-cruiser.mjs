/** Layers. A decision imports types only: no I/O, no clock, no logger, no metrics. */
const PURE =
  '(^src/controllers/[^/]+/decide/|^src/usage/(samples|percent|capacity|devices)[^/]*\\.ts$|^src/runtime/controller/conditions\\.ts$)';
const TESTS = '\\.test\\.ts$';

export default {
  forbidden: [
    {
      name: 'pure-decisions',
      comment: 'decide/, samples, percent, capacity and conditions may not reach I/O, rxjs, pino or a clock',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: {
        path: 'node_modules/(rxjs|pino|undici|prometheus-query|prom-client|axios)|^src/runtime/|^src/[^/]+/act',
        pathNot: '^src/runtime/(apply/(managedFields|mergePatch)|client/resource|controller/conditions)\\.ts$',
      },
    },
    {
      name: 'pure-decisions-core-modules',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'client-node-types-only-in-decisions',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: { path: 'node_modules/@kubernetes/client-node', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'usage-knows-no-custom-resource',
      severity: 'error',
      from: { path: '^src/usage/' },
      to: { path: '^src/(api|controllers)/' },
    },
    {
      name: 'runtime-knows-no-controller',
      severity: 'error',
      from: { path: '^src/runtime/' },
      to: { path: '^src/(api|controllers|usage)/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-tests-in-production',
      severity: 'error',
      from: { pathNot: '(' + TESTS + '|^test/|/testing/)' },
      to: { path: '(' + TESTS + '|^test/|/testing/)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
};
