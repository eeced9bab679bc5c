# The operator's image: Node, the bundled program, and nothing that could change either.
#
#   docker build -t traffic-operator:0.1.0 .
#
# Behind a registry of your own: --secret id=npmrc,src=$HOME/.npmrc; behind a proxy that signs for itself:
# --secret id=ca,src=/path/to/ca.crt. Neither gets into the image.

FROM gcr.io/distroless/nodejs24-debian12:nonroot AS runtime

FROM docker.io/library/node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm \
    --mount=type=secret,id=npmrc,target=/root/.npmrc \
    --mount=type=secret,id=ca \
    if [ -f /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; \
    npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier
COPY . .
# By the Node that will run the bundle, which names itself in the bill of materials.
COPY --from=runtime /nodejs/bin/node /nodejs/bin/node
RUN /nodejs/bin/node scripts/build.ts && cp LICENSE dist/

FROM runtime
LABEL org.opencontainers.image.title="traffic-operator" \
      org.opencontainers.image.description="Keeps Kubernetes workloads off nodes whose network is full" \
      org.opencontainers.image.licenses="Apache-2.0"
# What V8 and glibc would keep beside it for speed is as much as the program itself (docs/performance.md).
ENV NODE_OPTIONS=--max-semi-space-size=2
ENV MALLOC_ARENA_MAX=1
WORKDIR /app
COPY --from=build /src/dist/ ./
# A number, since runAsNonRoot cannot look up names.
USER 65532:65532
ENTRYPOINT ["/nodejs/bin/node", "/app/main.js"]
CMD ["manager"]
