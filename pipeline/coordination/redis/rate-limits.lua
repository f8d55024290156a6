-- One count, or what is left of one allowance.
--
-- KEYS[1]  the count, or a hash of what is left (`left`) and when that was (`at`, milliseconds)
-- ARGV[1]  `add`; ARGV[2] milliseconds that the count lives
-- ARGV[1]  `take back`: one less, for as long as it would have lived
-- ARGV[1]  `spend`; ARGV[2] most; ARGV[3] gained each second; ARGV[4] how many are taken
--
-- Time is that of the server, so that the clocks of processes make no difference.

local key, operation = KEYS[1], ARGV[1]

if operation == 'add' then
  local count = redis.call('INCR', key)
  redis.call('PEXPIRE', key, ARGV[2])
  return count
end

if operation == 'take back' then
  -- What is forgotten meanwhile must not come to be below zero, without an end.
  local count = tonumber(redis.call('GET', key) or 0)
  if count > 1 then return redis.call('DECR', key) end
  redis.call('DEL', key)
  return 0
end

local most, per_second, amount = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local known = redis.call('HMGET', key, 'left', 'at')
local left = most
if known[1] then
  left = math.min(tonumber(known[1]) + math.max(now - tonumber(known[2]), 0) / 1000 * per_second, most)
end
local is_there = left >= amount
if is_there then left = left - amount end
redis.call('HSET', key, 'left', tostring(left), 'at', string.format('%.0f', now))
-- Full again by then.
redis.call('PEXPIRE', key, math.ceil(most / per_second) * 1000)
return is_there and 0 or math.max(math.ceil((math.min(amount, most) - left) / per_second), 1)
