#pragma once
#include <span>

/// What was not simulated, from what was: the ratio estimator of stratified sampling.
namespace atl {

/// How far an amount is known: the variance of its error, and the degrees of freedom of that.
struct Uncertainty {
  double variance = 0, freedom = 1;
};

/// A sum of predictions, one per cluster, with the variance of its error.
class Prediction {
 public:
  /// Adds a cluster: `value` of its simulated launches is about proportional to their `work`, and launches of `left` work in
  /// all are not simulated. With r = sum(value) / sum(work), the rest is r x left. If a launch's value is r x work + e, with
  /// variance of e proportional to work, that is the best linear unbiased prediction, and the variance of its error is
  /// s^2 x left x (left + sum(work)) / sum(work), with s^2 = sum(e^2 / work) / (n - 1): Royall, "On finite population
  /// sampling theory under certain linear regression models", Biometrika 57 (1970). With equal work it is the formula for a
  /// simple random sample of n of N, N^2 (1 - n / N) s^2 / n (Cochran, Sampling Techniques, 3rd edition, theorem 2.2).
  /// Needs two launches, or `left` = 0. What `left` itself is uncertain by counts r^2 times.
  void add(std::span<const double> work, std::span<const double> value, double left, Uncertainty of_left = {});
  /// The sum is uncertain by this, too.
  void add_error(Uncertainty error) {
    variance_ += error.variance, squares_ += error.variance * error.variance / error.freedom;
  }
  /// Adds what was predicted from other launches.
  Prediction& operator+=(const Prediction& other) {
    value_ += other.value_, variance_ += other.variance_, squares_ += other.squares_;
    return *this;
  }

  double value() const { return value_; }
  double variance() const { return variance_; }
  /// Half of the interval that holds the true sum with probability `confidence`: Student's t with the degrees of freedom of
  /// a sum of variances (Satterthwaite 1946; Cochran, section 5.4).
  double half_width(double confidence) const;

 private:
  double value_ = 0, variance_ = 0;
  double squares_ = 0;  ///< sum over clusters of variance^2 / (n - 1)
};

/// Two-sided: Student's t with `freedom` degrees lies within +- this with probability `confidence`.
double student_t(double confidence, double freedom);

/// Probability, two-sided, that samples of one distribution differ in rank as much as `a` and `b` do: the rank test of Mann
/// and Whitney (Annals of Mathematical Statistics 18, 1947), in the normal approximation, with corrections for ties and for
/// continuity. 1 if all are equal.
double rank_test(std::span<const double> a, std::span<const double> b);

inline constexpr std::size_t kSampleHorizon = 64;

/// Least number of `all` launches, at least `least`, to simulate until the relative half-width of their sum comes to
/// `error`, if their values spread around the ratio by `spread`, relative to their mean; looks no further than
/// kSampleHorizon more.
std::size_t sample_size(std::size_t all, std::size_t least, double spread, double error, double confidence);

}  // namespace atl
