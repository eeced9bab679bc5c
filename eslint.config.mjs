import tseslint from 'typescript-eslint';

/** A declaration of a module, exported or not. */
const TOP_LEVEL = ':matches(Program, ExportNamedDeclaration) > VariableDeclaration';
/** A declarator whose type says that the collection never changes. */
const READONLY = '[id.typeAnnotation.typeAnnotation.typeName.name=/^Readonly(Map|Set)$/]';

export default tseslint.config(
  { ignores: ['dist/', 'reports/', 'coverage/', '.cache/', 'node_modules/'] },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // A class that holds nothing but state transitions reads better with explicit members than with parameter
      // properties, which type stripping does not support either.
      '@typescript-eslint/parameter-properties': 'error',
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      // client-node's models are classes, and what the API server sends and takes are plain objects of their shape.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.test.ts', '**/testing/**', 'test/**', 'scripts/**', '*.mjs', '*.ts'],
    rules: { 'no-console': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // Tests that share a scene, which takes seconds to start, stand in one file.
    files: ['test/integration/**'],
    rules: { 'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }] },
  },
  {
    // What every server has to bear is in one place, which no listener goes round.
    files: ['src/**/*.ts'],
    ignores: ['src/runtime/server/httpServer.ts', '**/*.test.ts', '**/testing/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        ...['http', 'https', 'http2']
          .flatMap((name) => [name, `node:${name}`])
          .map((name) => ({
            name,
            importNames: ['default', 'createServer', 'createSecureServer', 'Server'],
            allowTypeImports: true,
            message: 'Servers are created by src/runtime/server/httpServer.ts alone.',
          })),
      ],
    },
  },
  {
    // What is decided depends on what is passed in: the same for each TrafficWatch, each test and each process.
    files: ['src/controllers/**/*.ts', 'src/usage/evaluate/**/*.ts'],
    ignores: ['**/*.test.ts', '**/testing/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: `${TOP_LEVEL}[kind!="const"]`,
          message: 'A variable of a module is state that all callers share: pass a value in, or give it an owner.',
        },
        {
          selector: `${TOP_LEVEL} > VariableDeclarator:not(${READONLY}) > NewExpression[callee.name=/^(Weak)?(Map|Set)$/]`,
          message: 'A collection of a module is a constant, ReadonlyMap or ReadonlySet; a cache needs an owner.',
        },
      ],
    },
  },
  { files: ['**/*.mjs'], ...tseslint.configs.disableTypeChecked },
);
