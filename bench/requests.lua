-- The script for wrk: sends requests to random paths from a file, prepared before the measurement. Prints JSON as its last line.
-- Arguments: METHOD FILE-OF-PATHS BODY

local requests = {}

function init(arguments)
  wrk.method = arguments[1]
  if arguments[3] ~= "" then wrk.body = arguments[3] end
  for path in io.lines(arguments[2]) do
    requests[#requests + 1] = wrk.format(nil, path)
  end
  math.randomseed(1)
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"p99Ms":%.3f,"refused":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
