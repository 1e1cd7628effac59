// The kernels the stand-in driver can launch.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

struct Kernel {
    std::string name;
    std::vector<size_t> parameter_bytes;
    std::function<std::function<void()>(void **arguments)> bind;
};

const std::vector<Kernel> &kernels();
