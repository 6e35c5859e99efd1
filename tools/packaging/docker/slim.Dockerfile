# contorno on the processor, with Python and the program, on Debian's slim image: its wheel, and GStreamer from Debian.
#   docker build -f tools/packaging/docker/slim.Dockerfile -t contorno .
#   docker run --rm -v "$PWD:/data" contorno run /data/graph.yaml --output /data/out
FROM debian:12 AS build
WORKDIR /contorno
COPY . .
RUN tools/setup && tools/setup package && tools/package wheel --cpu

FROM debian:12-slim
RUN apt-get update -q \
  && apt-get install -y -q --no-install-recommends python3-venv fonts-dejavu-core libpangocairo-1.0-0 \
    libgstreamer-plugins-base1.0-0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /contorno/dist/cpu/*.whl /tmp/wheels/
RUN python3 -m venv /opt/contorno \
  && /opt/contorno/bin/pip install --no-cache-dir --disable-pip-version-check /tmp/wheels/*.whl \
  && rm -rf /tmp/wheels
ENV PATH=/opt/contorno/bin:$PATH
# Frames come from strangers: nothing here needs root. 65534 is nobody.
USER 65534
WORKDIR /data
ENTRYPOINT ["contorno"]
CMD ["--help"]
