# The image of compose.yaml: `callboard`, with the dashboard and what servers and workers need.

FROM node:22-slim AS dashboard
WORKDIR /build
COPY package.json package-lock.json tsconfig.base.json ./
COPY clients/react/package.json clients/react/
COPY web/package.json web/
RUN npm ci --no-progress
COPY clients/react clients/react
COPY web web
COPY src/callboard/server src/callboard/server
RUN npm run --silent build

FROM python:3.13-slim AS wheel
WORKDIR /build
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
COPY --from=dashboard /build/src/callboard/server/ui src/callboard/server/ui
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[server,procrastinate]'

FROM python:3.13-slim
RUN --mount=from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels 'callboard[server,procrastinate]'
RUN useradd --create-home --uid 10001 callboard
USER callboard
WORKDIR /home/callboard
ENTRYPOINT ["callboard"]
