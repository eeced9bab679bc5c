/** What decides about sets of objects. */
const OBJECT_SET = 'objectSet/(objectSet|plan)';
/** Layers. A decision imports types only: no I/O, no clock, no logger, no metrics. */
const PURE = [
  '^src/controllers/[^/]+/(model|decide|render|expression)/',
  '^src/connectivity/(protocol|objects|assign|localise)/',
  '^src/connectivity/agent/(http/probeTimes|udp/(datagram|mtuSearch|roundTrips|heard)|probeError|targets/dnsMessage|peers/schedule)\\.ts$',
  '^src/connectivity/server/(api/check|store/(storeWrites|etcd/agentValue)|auth/(decide|mark|token))\\.ts$',
  '^src/connectivity/server/(pods/agentPod|view/(agentState|clusterNode|clusterView|roster)|evaluation/(evaluate|nodeFigures))\\.ts$',
  '^src/weights/(records|gateway|plan|ramp|zone)/',
  '^src/placement/(policy|podTerms|webhook/(review|configuration))\\.ts$',
  '^src/usage/evaluate/',
  '^src/usage/series/(nodeSamples|rateTable)\\.ts$',
  `^src/runtime/(controller/conditions|status/(cut|failure|conditionEvents|terminating)|${OBJECT_SET})\\.ts$`,
].join('|');
/** The folders of runtime/, and what each may import of the others. manager/ puts all together. */
const RUNTIME = [
  ['process', ''],
  ['async', 'process'],
  ['client', 'async process'],
  ['cache', 'async client process'],
  ['apply', 'client process'],
  ['controller', 'async client process'],
  ['status', 'apply cache client controller process'],
  ['objectSet', 'apply cache client process'],
  ['leaderElection', 'async cache client process'],
  ['server', 'async client process'],
];
const TESTS = '\\.test\\.ts$';
/** What the folders of test/ share, lowest first. Every other folder of test/ is a level. */
const SHARED = ['lab', 'harness', 'scenario'];

export default {
  forbidden: [
    {
      name: 'pure-decisions',
      comment: 'decide/, usage/evaluate/ and conditions may not reach I/O, rxjs, pino or a clock',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: {
        path: 'node_modules/(rxjs|pino|undici|prometheus-query|prom-client|axios)|^src/runtime/',
        pathNot: `^src/runtime/(apply/(difference|managedFields|mergePatch)|client/resources?|controller/conditions|process/(duration|interner|problem)|${OBJECT_SET})\\.ts$`,
      },
    },
    {
      name: 'pure-decisions-core-modules',
      comment: 'A hash is a function of its input',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: { dependencyTypes: ['core'], pathNot: '^crypto$' },
    },
    {
      name: 'client-node-types-only-in-decisions',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: { path: 'node_modules/@kubernetes/client-node', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'prometheus-knows-no-usage',
      comment: 'Asking Prometheus is one thing, what is asked another',
      severity: 'error',
      from: { path: '^src/prometheus/' },
      to: { path: '^src/', pathNot: '^src/(prometheus|runtime/process|runtime/testing)/' },
    },
    {
      name: 'nodes-know-no-usage',
      severity: 'error',
      from: { path: '^src/nodes/' },
      to: { path: '^src/', pathNot: '^src/(nodes|runtime)/' },
    },
    {
      name: 'usage-knows-no-custom-resource',
      severity: 'error',
      from: { path: '^src/usage/' },
      to: { path: '^src/', pathNot: '^src/(usage|prometheus|nodes|runtime)/' },
    },
    {
      name: 'series-know-no-evaluation',
      severity: 'error',
      from: { path: '^src/usage/series/' },
      to: { path: '^src/(usage|runtime)/', pathNot: '^src/usage/series/' },
    },
    {
      name: 'evaluation-knows-no-pass',
      severity: 'error',
      from: { path: '^src/usage/evaluate/', pathNot: TESTS },
      to: {
        path: '^src/',
        pathNot: '^src/(usage/(evaluate|series)/|nodes/statedCapacity\\.ts$|runtime/process/(interner|problem)\\.ts$)',
      },
    },
    {
      name: 'decisions-see-what-was-evaluated',
      comment: 'A decision knows figures, and not how they are asked for',
      severity: 'error',
      from: { path: '^src/controllers/[^/]+/(model|decide|render|expression)/', pathNot: TESTS },
      to: { path: '^src/(usage|prometheus)/', pathNot: '^src/usage/evaluate/' },
    },
    {
      name: 'connectivity-knows-no-controller',
      comment: 'The check of the network is a program of its own',
      severity: 'error',
      from: { path: '^src/connectivity/', pathNot: TESTS },
      to: {
        path: '^src/',
        pathNot: '^src/(connectivity|api|runtime)/|^src/options/connectivityValues\\.ts$|^src/nodes/virtualNodes\\.ts$',
      },
    },
    {
      name: 'weights-know-no-controller',
      comment: 'What a record is made of depends on no custom resource of the operator',
      severity: 'error',
      from: { path: '^src/weights/', pathNot: TESTS },
      to: { path: '^src/', pathNot: '^src/(weights|runtime)/' },
    },
    {
      name: 'placement-knows-no-controller',
      comment: 'What a pod gets depends on the PodPlacement alone',
      severity: 'error',
      from: { path: '^src/placement/', pathNot: `${TESTS}|/testing/` },
      to: { path: '^src/', pathNot: '^src/(placement|api|runtime)/' },
    },
    {
      name: 'aws-is-loaded-lazily',
      comment: 'Most operators have no table of weights, and the AWS SDK takes 29 MiB',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: {
        path: '^src/weights/(backend/dynamoDb|route53/route53)\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'connectivity-agents-know-no-server',
      comment: 'They share the protocol, so that neither loads the other',
      severity: 'error',
      from: { path: '^src/connectivity/(agent|server)/', pathNot: TESTS },
      to: { path: '^src/connectivity/(agent|server)/', pathNot: '^src/connectivity/$1/' },
    },
    {
      name: 'runtime-knows-no-controller',
      severity: 'error',
      from: { path: '^src/runtime/' },
      to: { path: '^src/', pathNot: '^src/runtime/' },
    },
    {
      name: 'decisions-come-before-acts',
      comment: 'What observes and what acts knows decisions; of them a decision knows the observation alone',
      severity: 'error',
      from: { path: '^src/controllers/[^/]+/(model|decide|render|expression)/', pathNot: TESTS },
      to: { path: '^src/controllers/[^/]+/(observe|act|cleanup)/', pathNot: '/observe/observation\\.ts$' },
    },
    {
      name: 'observations-come-before-decisions',
      comment: 'What observes knows neither what decides nor what acts',
      severity: 'error',
      from: { path: '^src/controllers/([^/]+)/observe/', pathNot: TESTS },
      to: { path: '^src/controllers/$1/(decide|act)/' },
    },
    {
      name: 'models-come-first',
      comment: 'What observations and decisions share knows neither',
      severity: 'error',
      from: { path: '^src/controllers/([^/]+)/model/', pathNot: TESTS },
      to: { path: '^src/controllers/$1/(observe|decide|act)/' },
    },
    ...RUNTIME.map(([folder, below]) => ({
      name: `runtime-${folder}`,
      comment: `runtime/${folder} builds on ${below || 'nothing'}`,
      severity: 'error',
      from: { path: `^src/runtime/${folder}/`, pathNot: TESTS },
      to: {
        path: '^src/runtime/',
        pathNot: `^src/runtime/(${[folder, ...below.split(' ')].filter(Boolean).join('|')})/`,
      },
    })),
    {
      name: 'api-knows-no-behaviour',
      severity: 'error',
      from: { path: '^src/api/' },
      to: {
        path: '^src/',
        pathNot: '^src/(api/|runtime/(client/(resource|openApi)|controller/conditions|apply/|process/duration))',
      },
    },
    {
      name: 'options-know-no-command',
      severity: 'error',
      from: { path: '^src/options/', pathNot: TESTS },
      to: { path: '^src/', pathNot: '^src/(options/|runtime/)' },
    },
    {
      name: 'commands-are-loaded-lazily',
      comment: 'A process loads one command: main.ts and the list of commands reach them by import() alone',
      severity: 'error',
      from: { path: '^src/(main|program|commands/[^/]+)\\.ts$', pathNot: TESTS },
      to: {
        path: '^src/(commands/[^/]+/|controllers/|usage/|prometheus/|nodes/|api/)',
        dependencyTypesNot: ['dynamic-import'],
      },
    },
    {
      name: 'commands-know-none-of-the-others',
      severity: 'error',
      from: { path: '^src/commands/([^/]+)/', pathNot: TESTS },
      to: { path: '^src/commands/[^/]+/', pathNot: '^src/commands/$1/' },
    },
    {
      name: 'controllers-know-no-command',
      severity: 'error',
      from: { path: '^src/controllers/' },
      to: { path: '^src/(commands/|main|program)' },
    },
    {
      name: 'controllers-know-none-of-the-others',
      comment: 'What they share is in contract/; registry.ts lists them',
      severity: 'error',
      from: { path: '^src/controllers/([^/]+)/', pathNot: TESTS },
      to: { path: '^src/controllers/[^/]+(/|\\.ts$)', pathNot: '^src/controllers/($1|contract)/' },
    },
    {
      name: 'levels-share-no-parts',
      comment: 'A level imports its own parts and what is shared. Soak measures what bench measures',
      severity: 'error',
      from: { path: '^test/([^/]+)/', pathNot: `^test/(${[...SHARED, 'soak'].join('|')})/` },
      to: { path: '^test/', pathNot: `^test/($1|${SHARED.join('|')})/` },
    },
    {
      name: 'soak-shares-with-bench-only',
      severity: 'error',
      from: { path: '^test/soak/' },
      to: { path: '^test/', pathNot: `^test/(soak|bench|${SHARED.join('|')})/` },
    },
    ...SHARED.map((folder, n) => ({
      name: `test-${folder}`,
      comment: `test/${folder} knows no level`,
      severity: 'error',
      from: { path: `^test/${folder}/` },
      to: { path: '^test/', pathNot: `^test/(${SHARED.slice(0, n + 1).join('|')})/` },
    })),
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-tests-in-production',
      severity: 'error',
      from: { pathNot: '(' + TESTS + '|^test/|^scripts/|/testing/)' },
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
