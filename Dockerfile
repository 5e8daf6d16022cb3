# Palimpsest in a container: one process, one volume, no root.
#
#   docker build -t palimpsest-proxy .
#   docker run -p 127.0.0.1:8484:8484 -v palimpsest:/data \
#       -e PALIMPSEST__CREDENTIALS='[{"key": "a-long-random-text", "user": "ada"}]' palimpsest-proxy
#
# A container has to listen on all its addresses, and there nobody is believed without a key: the container does not
# start before PALIMPSEST__CREDENTIALS (or /data/config.yaml) names one. Runtimes then use
# http://127.0.0.1:8484/k/a-long-random-text/v1 as their base URL. config/compose.yaml does all that, with a Qdrant
# server beside it.

# A release names the image by its digest: --build-arg PYTHON_IMAGE=python:3.12-slim@sha256:… (docs/releasing.md).
ARG PYTHON_IMAGE=python:3.12-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
COPY requirements.lock pyproject.toml LICENSE NOTICE ./
COPY docs/pypi.md ./docs/
COPY memory ./memory
COPY proxy ./proxy
RUN python -m venv /opt/palimpsest \
    && /opt/palimpsest/bin/pip install --no-cache-dir --require-hashes -r requirements.lock \
    && /opt/palimpsest/bin/pip install --no-cache-dir --no-deps .

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="Palimpsest" \
      org.opencontainers.image.description="A reverse proxy that gives AI agents a memory" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 palimpsest \
    && useradd --uid 10001 --gid palimpsest --no-create-home --home-dir /data --shell /usr/sbin/nologin palimpsest \
    && install --directory --mode 0700 --owner palimpsest --group palimpsest /data
COPY --from=build /opt/palimpsest /opt/palimpsest
ENV PATH=/opt/palimpsest/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    LITELLM_LOCAL_MODEL_COST_MAP=True \
    PALIMPSEST_HOME=/data \
    PALIMPSEST__SERVER__HOST=0.0.0.0 \
    PALIMPSEST__SERVER__PORT=8484
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8484
# Degraded is alive: requests go through without memory, and a restart would not mend a full disk.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8484/palimpsest/health', timeout=4)"]
ENTRYPOINT ["palimpsest"]
CMD ["serve"]
