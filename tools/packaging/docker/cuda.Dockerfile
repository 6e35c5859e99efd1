# contorno with CUDA, with Python and the program. The compiler stays in the first image: the wheel needs the driver alone, which
# NVIDIA's container toolkit brings in, and computes on the processor where there is none.
#   docker build -f tools/packaging/docker/cuda.Dockerfile -t contorno:cuda .
#   docker run --rm --gpus all -v "$PWD:/data" contorno:cuda run /data/graph.yaml --output /data/out
FROM nvidia/cuda:13.0.1-devel-ubuntu24.04 AS build
WORKDIR /contorno
COPY . .
RUN tools/setup && tools/setup package && tools/package wheel

FROM ubuntu:24.04
RUN apt-get update -q \
  && apt-get install -y -q --no-install-recommends python3-venv fonts-dejavu-core libpangocairo-1.0-0 \
    libgstreamer-plugins-base1.0-0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /contorno/dist/*.whl /tmp/wheels/
RUN python3 -m venv /opt/contorno \
  && /opt/contorno/bin/pip install --no-cache-dir --disable-pip-version-check /tmp/wheels/*.whl \
  && rm -rf /tmp/wheels
ENV PATH=/opt/contorno/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility,video
# Frames come from strangers: nothing here needs root. 65534 is nobody.
USER 65534
WORKDIR /data
ENTRYPOINT ["contorno"]
CMD ["--help"]
