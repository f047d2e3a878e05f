"""CUDA graphs, made node by node and captured from streams: every launch of one does its work, and is in the trace."""

import recorded_program
from recorded_program import OneProgram

SOURCE = r"""
#include <cstdio>
#include <cstring>

static int failures = 0;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); ++failures; } } while (0)
#define OK(x) EXPECT((x) == cudaSuccess)

__global__ void add(int* p, int v, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += v; }
__global__ void times(int* p, int v, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= v; }
__global__ void sum(const int* a, const int* b, int* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__constant__ int offset;

static int called = 0;
void CUDART_CB count(void* by) { called += *(int*)by; }

const int n = 64;

void explicit_nodes() {
  int *d, h[n], back[n], by = 10;
  OK(cudaMalloc(&d, sizeof h));
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t set, kernel, second, out, host, empty;
  cudaMemsetParams ms = {};
  ms.dst = d, ms.value = 3, ms.elementSize = 4, ms.width = n, ms.height = 1;
  int v = 4, many = n;
  void* arguments[] = {&d, &v, &many};
  cudaKernelNodeParams k = {};
  k.func = (void*)times, k.gridDim = 2, k.blockDim = 32, k.kernelParams = arguments;
  // Added before what it depends on: only the edges say the order.
  OK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &k));
  v = 100;  // the node has its own copy
  OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &ms));
  OK(cudaGraphAddDependencies(graph, &set, &kernel, nullptr, 1));
  k.func = (void*)add, v = 5;
  OK(cudaGraphAddKernelNode(&second, graph, &kernel, 1, &k));
  OK(cudaGraphAddEmptyNode(&empty, graph, &second, 1));
  OK(cudaGraphAddMemcpyNode1D(&out, graph, &empty, 1, back, d, sizeof back, cudaMemcpyDeviceToHost));
  cudaHostNodeParams hp = {count, &by};
  OK(cudaGraphAddHostNode(&host, graph, &out, 1, &hp));
  size_t nodes = 0, roots = 0, edges = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT(nodes == 6 && roots == 1 && edges == 5);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(set, &type));
  EXPECT(type == cudaGraphNodeTypeMemset);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(exec, s));
  OK(cudaStreamSynchronize(s));
  EXPECT(back[0] == 17 && back[n - 1] == 17 && called == 30);

  // Other parameters in the executable graph, then in the graph itself, then all at once.
  v = 1;
  OK(cudaGraphExecKernelNodeSetParams(exec, second, &k));
  OK(cudaGraphLaunch(exec, s));
  EXPECT(back[5] == 13);
  ms.value = 7;
  OK(cudaGraphMemsetNodeSetParams(set, &ms));
  OK(cudaGraphLaunch(exec, s));
  EXPECT(back[5] == 13);
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(exec, graph, &info));
  OK(cudaGraphLaunch(exec, s));
  EXPECT(back[5] == 33 && info.result == cudaGraphExecUpdateSuccess);
  OK(cudaGraphNodeSetEnabled(exec, second, 0));
  OK(cudaGraphLaunch(exec, s));
  EXPECT(back[5] == 28);
  cudaKernelNodeParams got;
  OK(cudaGraphKernelNodeGetParams(second, &got));
  EXPECT(got.gridDim.x == 2 && *(int*)got.kernelParams[1] == 5);
  // By one call for nodes of any kind.
  OK(cudaGraphNodeSetEnabled(exec, second, 1));
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeMemset, any.memset = {};
  any.memset.dst = ms.dst, any.memset.elementSize = ms.elementSize, any.memset.width = ms.width, any.memset.height = 1;
  any.memset.value = 1;
  OK(cudaGraphExecNodeSetParams(exec, set, &any));
  OK(cudaGraphLaunch(exec, s));
  EXPECT(back[5] == 9);
  any.memset.value = 7;
  OK(cudaGraphNodeSetParams(set, &any));
  EXPECT(cudaGraphNodeSetParams(second, &any) == cudaErrorInvalidValue);  // of another kind
  OK(cudaGraphExecUpdate(exec, graph, &info));
  cudaGetLastError();

  // A graph in a graph, and a copy whose edges make a circle.
  cudaGraph_t outer, copy;
  cudaGraphNode_t child, in_copy, other;
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  cudaGraphExec_t nested;
  OK(cudaGraphInstantiate(&nested, outer, 0));
  OK(cudaGraphLaunch(nested, s));
  EXPECT(back[5] == 33);
  EXPECT(cudaGraphExecUpdate(exec, outer, &info) == cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  OK(cudaGraphClone(&copy, graph));
  OK(cudaGraphNodeFindInClone(&in_copy, set, copy));
  OK(cudaGraphNodeFindInClone(&other, second, copy));
  OK(cudaGraphAddDependencies(copy, &other, &in_copy, nullptr, 1));
  EXPECT(cudaGraphInstantiate(&nested, copy, 0) == cudaErrorInvalidValue);
  OK(cudaGraphDestroy(copy));
  EXPECT(cudaGraphDestroy(copy) == cudaErrorInvalidValue);
  k.gridDim = 0;
  EXPECT(cudaGraphAddKernelNode(&other, graph, nullptr, 0, &k) == cudaErrorInvalidConfiguration);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  cudaGetLastError();
}

void captured() {
  int *a, *b, *c, *extra, h[n], back[n], by = 1, seven = 7;
  for (int i = 0; i < n; i++) h[i] = i;
  OK(cudaMalloc(&a, sizeof h));
  OK(cudaMalloc(&b, sizeof h));
  OK(cudaMalloc(&c, sizeof h));
  OK(cudaMemset(c, 0xff, sizeof h));
  cudaStream_t s, side;
  cudaEvent_t fork, join;
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  called = 0;
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(s, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  OK(cudaMemcpyAsync(a, h, sizeof h, cudaMemcpyHostToDevice, s));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(side, fork, 0));
  OK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  OK(cudaMemsetAsync(b, 0, sizeof h, side));
  add<<<1, n, 0, side>>>(b, 1000, n);
  OK(cudaMemcpyToSymbolAsync(offset, &seven, 4, 0, cudaMemcpyHostToDevice, side));
  OK(cudaMallocAsync(&extra, sizeof h, side));
  OK(cudaMemcpyAsync(extra, b, sizeof h, cudaMemcpyDeviceToDevice, side));
  OK(cudaEventRecord(join, side));
  times<<<2, 32, 0, s>>>(a, 2, n);
  OK(cudaStreamWaitEvent(s, join, 0));
  sum<<<2, 32, 0, s>>>(a, extra, c, n);
  OK(cudaFreeAsync(extra, s));
  OK(cudaLaunchHostFunc(s, count, &by));
  OK(cudaMemcpy2DAsync(back, 64, c, 64, 64, 4, cudaMemcpyDeviceToHost, s));
  cudaGraph_t graph;
  OK(cudaStreamEndCapture(s, &graph));
  OK(cudaMemcpy(back, c, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == -1 && called == 0);  // nothing has run yet
  size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 11);
  // Programs find a captured launch of theirs by the name of its kernel.
  cudaGraphNode_t all[11];
  int adds = 0;
  OK(cudaGraphGetNodes(graph, all, &nodes));
  for (cudaGraphNode_t node : all) {
    cudaGraphNodeType type;
    cudaKernelNodeParams params;
    OK(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeKernel) continue;
    OK(cudaGraphKernelNodeGetParams(node, &params));
    adds += params.func == (void*)add;
  }
  EXPECT(adds > 0);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; i++) {
    memset(back, 0, sizeof back);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    bool good = true;
    for (int j = 0; j < n; j++) good &= back[j] == 2 * j + 1000;
    EXPECT(good && called == i + 1);
  }
  int symbol = 0;
  OK(cudaMemcpyFromSymbol(&symbol, offset, 4));
  EXPECT(symbol == 7);

  // A captured launch of a graph is a node; a graph captured again updates the executable one.
  cudaGraph_t outer;
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  OK(cudaGraphLaunch(exec, s));
  add<<<1, n, 0, s>>>(c, 1, n);
  OK(cudaStreamEndCapture(s, &outer));
  cudaGraphExec_t twice;
  OK(cudaGraphInstantiateWithFlags(&twice, outer, 0));
  OK(cudaGraphLaunch(twice, 0));
  OK(cudaMemcpy(back, c, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(back[1] == 1003);

  // Memory of a graph that is freed outside of it is there again in the next launch.
  cudaGraph_t keeps;
  cudaGraphExec_t again;
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaMallocAsync(&extra, sizeof h, s));
  OK(cudaMemsetAsync(extra, 0, sizeof h, s));
  add<<<1, n, 0, s>>>(extra, 5, n);
  OK(cudaStreamEndCapture(s, &keeps));
  OK(cudaGraphInstantiateWithFlags(&again, keeps, 0));
  for (int i = 0; i < 2; i++) {
    OK(cudaGraphLaunch(again, s));
    OK(cudaMemcpyAsync(back, extra, sizeof h, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(back[n - 1] == 5);
    OK(cudaFreeAsync(extra, s));
  }

  // Work that is left out at the end, waiting for a captured stream, and ends without a beginning.
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, n, 0, side>>>(b, 1, n);
  EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureUnjoined && graph == nullptr);
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorInvalidValue);
  OK(cudaStreamSynchronize(s));
  OK(cudaStreamIsCapturing(s, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  for (const auto wait : {cudaEventQuery, cudaEventSynchronize}) {
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(fork, s));
    EXPECT(wait(fork) == cudaErrorCapturedEvent);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    OK(wait(fork));
  }
  cudaGetLastError();

  // The legacy stream, which the null stream is unless each thread has one of its own.
  EXPECT(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  OK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
  OK(cudaStreamEndCapture(0, &graph));
#else
  EXPECT(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
#endif
  OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
  OK(cudaStreamEndCapture(cudaStreamPerThread, &graph));
  cudaGetLastError();
}

// Events that launches record, of the two kinds that there are.
void events_of_launches() {
  int *a, *b, got[2];
  OK(cudaMalloc(&a, 4));
  OK(cudaMalloc(&b, 4));
  cudaStream_t s, side;
  cudaEvent_t done, join;
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticEvent, attributes[0].val.programmaticEvent.event = done;
  attributes[1].id = cudaLaunchAttributeLaunchCompletionEvent, attributes[1].val.launchCompletionEvent.event = done;
  for (cudaLaunchAttribute& attribute : attributes) {
    OK(cudaMemset(a, 0, 4));
    OK(cudaMemset(b, 0, 4));
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 1, config.stream = s, config.attrs = &attribute, config.numAttrs = 1;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaLaunchKernelEx(&config, add, a, 5, 1));
    OK(cudaStreamWaitEvent(side, done));
    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(side, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    sum<<<1, 1, 0, side>>>(a, b, b, 1);
    OK(cudaEventRecord(join, side));
    OK(cudaStreamWaitEvent(s, join));
    cudaGraph_t graph;
    OK(cudaStreamEndCapture(s, &graph));
    size_t nodes = 0, edges = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(nodes == 2 && edges == 1);
    cudaGraphNode_t kernels[2];
    OK(cudaGraphGetNodes(graph, kernels, &nodes));
    EXPECT(cudaGraphKernelNodeSetAttribute(kernels[0], attribute.id, &attribute.val) == cudaErrorInvalidValue);
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) OK(cudaGraphLaunch(exec, s));
    OK(cudaMemcpyAsync(got, a, 4, cudaMemcpyDeviceToHost, s));
    OK(cudaMemcpyAsync(got + 1, b, 4, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(got[0] == 10 && got[1] == 15);
  }
  cudaGetLastError();
}

// What a node is launched with beside its parameters stays when these change; an update that fails changes nothing, not
// even in a child; graphs in nodes are graphs; and a capture that fails takes no graph of the program's with it.
void kept() {
  int *d, back = 0, v = 1, many = 1;
  OK(cudaMalloc(&d, 4));
  OK(cudaMemset(d, 0, 4));
  void* arguments[] = {&d, &v, &many};
  cudaKernelNodeParams k = {};
  k.func = (void*)add, k.gridDim = 4, k.blockDim = 32, k.kernelParams = arguments;
  cudaGraph_t one, hundred, outer, wanted, inner;
  cudaGraphNode_t node, child;
  OK(cudaGraphCreate(&one, 0));
  OK(cudaGraphAddKernelNode(&node, one, nullptr, 0, &k));
  cudaLaunchAttributeValue value = {};
  value.cooperative = 1;
  OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
  value = {}, value.clusterDim.x = 2, value.clusterDim.y = value.clusterDim.z = 1;
  OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
  OK(cudaGraphKernelNodeSetParams(node, &k));
  OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &value));
  EXPECT(value.cooperative == 1);
  OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
  EXPECT(value.clusterDim.x == 2);
  OK(cudaGraphDestroyNode(node));

  OK(cudaGraphAddKernelNode(&node, one, nullptr, 0, &k));
  OK(cudaGraphCreate(&hundred, 0));
  v = 100;
  OK(cudaGraphAddKernelNode(&node, hundred, nullptr, 0, &k));
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, one));
  size_t nodes = 0;
  OK(cudaGraphChildGraphNodeGetGraph(child, &inner));
  OK(cudaGraphGetNodes(inner, nullptr, &nodes));
  EXPECT(nodes == 1 && cudaGraphDestroy(inner) == cudaErrorInvalidValue);
  OK(cudaGraphAddEmptyNode(&node, outer, nullptr, 0));
  OK(cudaGraphCreate(&wanted, 0));
  OK(cudaGraphAddChildGraphNode(&child, wanted, nullptr, 0, hundred));
  OK(cudaGraphAddKernelNode(&node, wanted, nullptr, 0, &k));
  cudaGraphExec_t exec;
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphInstantiate(&exec, outer, 0));
  EXPECT(cudaGraphExecUpdate(exec, wanted, &info) == cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorNodeTypeChanged);
  OK(cudaGraphLaunch(exec, 0));
  OK(cudaMemcpy(&back, d, 4, cudaMemcpyDeviceToHost));
  EXPECT(back == 1);

  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamBeginCaptureToGraph(s, one, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(s, &inner) == cudaErrorStreamCaptureInvalidated);
  OK(cudaGraphDestroy(one));
  cudaGetLastError();
}

int main() {
  explicit_nodes();
  captured();
  kept();
  events_of_launches();
  printf("failures %d\n", failures);
}
"""


class Graphs(OneProgram):

    SOURCE = SOURCE

    def test_every_answer_is_right_and_every_kernel_of_every_launch_is_recorded(self):
        outcome = self.record(self.binary)
        self.assertEqual((outcome.code, outcome.out), (0, "failures 0\n"), outcome)
        # 9 launches of two kernels, one of which is left out once; 3 of three, one kernel more, 3 of one, and 4 of two.
        self.assertEqual(self.kernels_in_trace(outcome), 9 * 2 - 1 + 3 * 3 + 1 + 3 + 4 * 2)
        self.simulated()

    def test_with_a_default_stream_for_each_thread(self):
        source = self.compiled(SOURCE, "-default-stream", "per-thread")
        outcome = self.record(source)
        self.assertEqual((outcome.code, outcome.out), (0, "failures 0\n"), outcome)


if __name__ == "__main__":
    recorded_program.main()
