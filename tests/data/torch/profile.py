"""Records a trace of PyTorch's profiler with memory events: python profile.py cpu|cuda OUT.json."""

import json
import os
import sys

import torch
from torch.profiler import ProfilerActivity, profile

device, path = sys.argv[1], sys.argv[2]
torch.manual_seed(0)


class Net(torch.nn.Module):
    """Three convolutions and a linear layer."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Conv2d(a, b, 3, padding=1) for a, b in [(3, 16), (16, 32), (32, 32)])
        self.head = torch.nn.Linear(32, 10)

    def forward(self, x):
        for layer in self.layers:
            x = torch.nn.functional.max_pool2d(torch.relu(layer(x)), 2)
        return self.head(x.mean((2, 3)))


model, x = Net().to(device), torch.randn(8, 3, 64, 64, device=device)
optimizer = torch.optim.Adam(model.parameters())


def step():
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()


# The first step makes the optimizer's state; the second one is like all others.
step()
activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
if device == "cuda":
    torch.cuda.reset_peak_memory_stats()
with profile(activities=activities, profile_memory=True, with_stack=device == "cpu") as recorded:
    step()
recorded.export_chrome_trace(path)

# What memplan does not look at is dropped, and folders are shortened; the events that stay are as they were written.
trace = json.load(open(path))
kept = [event for event in trace["traceEvents"] if event.get("cat") in ("cpu_op", "python_function")]
kept = [{key: event[key] for key in ("ph", "cat", "name", "pid", "tid", "ts", "dur")} for event in kept]
kept += [event for event in trace["traceEvents"] if event["name"] == "[memory]"]
for event in kept:
    event["name"] = event["name"].replace(os.getcwd() + "/", "").replace(sys.prefix + "/", "")
trace = {key: trace[key] for key in ("schemaVersion",) if key in trace}
lines = ",\n".join(json.dumps(event) for event in kept)
open(path, "w").write(json.dumps(trace)[:-1] + ', "traceEvents": [\n' + lines + "\n]}\n")
if device == "cuda":
    print(json.dumps({"max": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}))
print(torch.__version__, len(kept), os.path.getsize(path))
